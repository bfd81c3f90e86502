"""Judges YAML texts by a JSON Schema with a validator that is not ours.

stdin: {"schema": …, "texts": […]}; stdout: for each text its first error or null.
"""
import json
import sys

import yaml
from jsonschema import Draft202012Validator

asked = json.load(sys.stdin)
Draft202012Validator.check_schema(asked["schema"])
validator = Draft202012Validator(asked["schema"])


def verdict(text):
    value = yaml.safe_load(text)
    error = next(iter(validator.iter_errors(value)), None)
    return error and f"{error.json_path}: {error.message}"


json.dump([verdict(text) for text in asked["texts"]], sys.stdout)
