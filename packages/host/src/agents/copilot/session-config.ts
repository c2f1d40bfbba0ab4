/** What a session is created and resumed with: always the same, but for the model and the tools of the host. */
import type { ToolDefinition } from '@atrium/protocol';
import type { CopilotAgentOptions } from './copilot-agent.js';
import type { HostTools } from './host-tools.js';
import { rejected } from './permission.js';
import type { CopilotPrompt } from './prompt.js';
import type { ModelFacts, SdkTool, SessionConfig } from './sdk.js';
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

/** What may differ from one time to the next. */
export interface Chosen {
  readonly model: string | undefined;
  readonly tools: HostTools;
  /** Copilot's own tools that the model does not hear of. */
  readonly hidden: readonly string[];
  readonly gitHubToken?: string | undefined;
}

export function sessionConfig(side: SessionSide, { model, tools, hidden, gitHubToken }: Chosen): SessionConfig {
  const { providerConfig } = side.options;
  return {
    ...(model !== undefined && { model }),
    ...capabilitiesOf(side.options, model),
    ...(providerConfig && { provider: providerConfig }),
    ...(gitHubToken !== undefined && { gitHubToken }),
    workingDirectory: side.folder,
    streaming: true,
    includeSubAgentStreamingEvents: false,
    enableSessionTelemetry: false,
    enableSessionStore: false,
    tools: [...tools].map(([name, definition]) => sdkTool(side, name, definition)),
    // Also when it is empty: without it, a session that is resumed keeps the list that it had.
    excludedTools: hidden.map((name) => `builtin:${name}`),
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

/** The runtime knows GitHub's models; about others it knows what it is told. */
export function capabilitiesOf({ models = [] }: CopilotAgentOptions, model: string | undefined): ModelFacts {
  const vision = models.find(({ id }) => id === model)?.supportsVision;
  return vision === undefined ? {} : { modelCapabilities: { supports: { vision } } };
}
