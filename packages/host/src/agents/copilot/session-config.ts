/** What a session is created and resumed with: always the same, but for the model and the tools of the host. */
import type { ToolDefinition } from '@atrium/protocol';
import type { CopilotAgentOptions } from './copilot-agent.js';
import type { HostTools } from './host-tools.js';
import { rejected } from './permission.js';
import type { CopilotPrompt } from './prompt.js';
import type { SdkTool, SessionConfig } from './sdk.js';
import type { TurnRun } from './turn-run.js';

/** Our side of a session: who answers when Copilot asks. */
export interface SessionSide {
  readonly options: CopilotAgentOptions;
  readonly folder: string;
  readonly prompt: CopilotPrompt;
  /** The turn that is running. */
  run(): TurnRun | undefined;
}

const NO_TURN = 'No turn is running in this session, so nothing may be done in it.';
const NO_INPUT = { type: 'object', properties: {} } as const;

export function sessionConfig(side: SessionSide, model: string | undefined, tools: HostTools): SessionConfig {
  const { providerConfig } = side.options;
  return {
    ...(model !== undefined && { model }),
    ...(providerConfig && { provider: providerConfig }),
    workingDirectory: side.folder,
    streaming: true,
    includeSubAgentStreamingEvents: false,
    enableSessionTelemetry: false,
    enableSessionStore: false,
    tools: [...tools].map(([name, definition]) => sdkTool(side, name, definition)),
    systemMessage: { mode: 'customize', sections: side.prompt.overrides() },
    hooks: {
      onPreToolUse: async (input) =>
        side.run()?.calls.check(input) ?? { permissionDecision: 'deny', permissionDecisionReason: NO_TURN },
      onPostToolUse: async (input) =>
        side.run()?.toolDone(input, input.toolResult.resultType === 'success', input.toolResult.textResultForLlm),
      onPostToolUseFailure: async (input) => side.run()?.toolDone(input, false, input.error),
      onUserPromptSubmitted: async () => side.run()?.takeContext(),
    },
    onUserInputRequest: async (question) => ({
      answer: (await side.run()?.answerTo(question)) ?? NO_TURN,
      wasFreeform: true,
    }),
    onPermissionRequest: async (request) => side.run()?.calls.permit(request) ?? rejected(NO_TURN),
    onEvent: (event) => side.run()?.take(event),
  };
}

function sdkTool(side: SessionSide, name: string, definition: ToolDefinition): SdkTool {
  const { description, title, inputSchema = NO_INPUT } = definition;
  return {
    name,
    description: description ?? title ?? name,
    parameters: { ...inputSchema },
    skipPermission: true,
    handler: async (input, { toolCallId }) =>
      side.run()?.callHostTool(toolCallId, name, input) ?? { textResultForLlm: NO_TURN, resultType: 'failure' },
  };
}
