/** Host tools for tests: they say what they were given. */
import type { HostTool, ToolConfirmation, ToolContext } from '@atrium/core/contracts/tool.js';

export interface EchoTool extends HostTool {
  /** Every input that it was run with. */
  readonly runs: unknown[];
}

export interface EchoOptions {
  readonly confirmation?: ToolConfirmation;
  /** Does the work; what it returns is the output. */
  readonly work?: (input: unknown, context: ToolContext) => Promise<string> | string;
}

export function echoTool(name: string, { confirmation, work }: EchoOptions = {}): EchoTool {
  const runs: unknown[] = [];
  return {
    runs,
    definition: { name },
    displayName: name,
    invocationMessage: () => `Use ${name}`,
    confirmation: () => confirmation,
    async run(input, context) {
      runs.push(input);
      const text = work ? await work(input, context) : JSON.stringify(input);
      return { success: true, pastTenseMessage: `Used ${name}`, content: [{ type: 'text', text }] };
    },
  };
}
