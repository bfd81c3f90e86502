// Written by `towpath init opencode`; `towpath init opencode --remove` removes it.
import { spawnSync } from "child_process"

const program = "towpath"

// What towpath answers about a call; nothing where it is missing or fails.
function ask(event, payload) {
  const options = {
    input: JSON.stringify(payload),
    encoding: "utf8",
    timeout: 10000,
    stdio: ["pipe", "pipe", "ignore"],
  }
  try {
    const { status, stdout } = spawnSync(program, ["hook", event, "--host", "opencode"], options)
    return (status === 0 && stdout && JSON.parse(stdout)) || {}
  } catch {
    return {}
  }
}

export const Towpath = async ({ directory }) => {
  const call = (input, args) => ({
    session: input.sessionID,
    call: input.callID,
    tool: input.tool,
    input: args,
    directory,
  })
  const running = new Map()
  return {
    "tool.execute.before": async (input, output) => {
      const answer = ask("pre", call(input, output.args))
      if (answer.deny) throw new Error(answer.deny)
      if (answer.input) Object.assign(output.args, answer.input)
      running.set(input.callID, output.args)
    },
    "tool.execute.after": async (input, output) => {
      const args = input.args ?? running.get(input.callID)
      running.delete(input.callID)
      const ended = { output: output.output, exit: output.metadata?.exit }
      const answer = ask("post", { ...call(input, args), ...ended })
      if (answer.context) output.output = `${output.output}\n\n${answer.context}`
    },
  }
}
