"""Judges YAML texts, or TOML texts of settings, by a JSON Schema with a validator that is not ours.

stdin: {"schema": …, "texts": […]}; stdout: for each text its first error or null.
"""
import json
import sys
import tomllib

import yaml
from jsonschema import Draft202012Validator

asked = json.load(sys.stdin)
Draft202012Validator.check_schema(asked["schema"])
read = tomllib.loads if asked["schema"]["$id"].endswith(":settings") else yaml.safe_load
validator = Draft202012Validator(asked["schema"])


def verdict(text):
    value = read(text)
    error = next(iter(validator.iter_errors(value)), None)
    return error and f"{error.json_path}: {error.message}"


json.dump([verdict(text) for text in asked["texts"]], sys.stdout)
