/**
 * The part of the Copilot SDK that this agent uses, with types of our own: the package is optional, so nothing imports
 * its types. It is loaded with the first session.
 */

import { AgentError } from '@atrium/core/contracts/agent.js';
import { errorText } from '@atrium/core/util/text.js';

export const SDK_PACKAGE = '@github/copilot-sdk';

export interface CopilotSdk {
  readonly CopilotClient: new (options: ClientOptions) => SdkClient;
}

export interface ClientOptions {
  readonly baseDirectory: string;
  readonly workingDirectory: string;
  readonly useLoggedInUser: boolean;
  readonly gitHubToken?: string;
  readonly logLevel: 'error';
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** One runtime process. */
export interface SdkClient {
  start(): Promise<void>;
  stop(): Promise<unknown>;
  forceStop(): Promise<void>;
  ping(): Promise<unknown>;
  getAuthStatus(): Promise<{ readonly isAuthenticated: boolean }>;
  /** Undefined when there is no such session on disk. */
  getSessionMetadata(sessionId: string): Promise<unknown>;
  createSession(config: SessionConfig & { readonly sessionId: string }): Promise<SdkSession>;
  resumeSession(sessionId: string, config: SessionConfig): Promise<SdkSession>;
  deleteSession(sessionId: string): Promise<void>;
}

export interface SdkMessage {
  readonly prompt: string;
  readonly mode?: 'enqueue' | 'immediate';
  /** The runtime scales pictures down if its model needs that, and leaves them out if the model cannot see. */
  readonly attachments?: readonly {
    readonly type: 'blob';
    /** As base64. */
    readonly data: string;
    readonly mimeType: string;
    readonly displayName?: string;
  }[];
}

export interface SdkSession {
  /** `immediate` reaches the model before its next step; any other message waits for its turn. */
  send(message: SdkMessage): Promise<string>;
  abort(): Promise<void>;
  setModel(model: string, facts: ModelFacts): Promise<void>;
  disconnect(): Promise<void>;
  readonly rpc: {
    readonly tools: {
      /** Builds tools and prompt again, at once: every section goes through its callback. */
      initializeAndValidate(): Promise<unknown>;
      getCurrentMetadata(): Promise<{ readonly tools?: readonly { readonly name: string }[] | null }>;
    };
    /** Commands and sub-agents that run in the background. */
    readonly tasks: {
      list(): Promise<{ readonly tasks: readonly { readonly id: string; readonly status: string }[] }>;
      cancel(params: { readonly id: string }): Promise<unknown>;
    };
    readonly history: {
      /** Forgets this event and all later ones. */
      truncate(params: { readonly eventId: string }): Promise<unknown>;
    };
  };
}

/** A model server of one's own, with a key, instead of GitHub's. */
export interface ProviderConfig {
  readonly type?: 'openai' | 'azure' | 'anthropic';
  /** With the version for `openai` (`https://…/v1`), without it for `anthropic`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly wireApi?: 'completions' | 'responses';
  readonly headers?: Readonly<Record<string, string>>;
}

/** Facts about a model that the runtime does not know by itself. */
export interface ModelFacts {
  readonly modelCapabilities?: { readonly supports: { readonly vision: boolean } };
}

export interface SessionConfig extends ModelFacts {
  readonly model?: string;
  readonly provider?: ProviderConfig;
  /** The token of the session's person. Unlike the runtime's own token, commands do not see it. */
  readonly gitHubToken?: string;
  readonly workingDirectory: string;
  /** Absolute paths of further folders. Those of an earlier connection do not count. */
  readonly additionalDirectories: readonly string[];
  readonly streaming: true;
  readonly includeSubAgentStreamingEvents: true;
  readonly enableSessionTelemetry: false;
  readonly enableSessionStore: false;
  readonly suppressResumeEvent?: boolean;
  readonly tools: readonly SdkTool[];
  /** Source and name, such as `builtin:bash`. */
  readonly excludedTools: readonly string[];
  readonly systemMessage: { readonly mode: 'customize'; readonly sections: Readonly<Record<string, SectionOverride>> };
  readonly hooks: SessionHooks;
  onUserInputRequest(request: UserQuestion): Promise<{ readonly answer: string; readonly wasFreeform: boolean }>;
  onPermissionRequest(request: PermissionRequest): Promise<PermissionDecision>;
  onEvent(event: SdkEvent): void;
}

export interface SectionOverride {
  readonly action: (content: string) => string;
}

export interface SdkTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Always set: the host asks people, so Copilot does not. */
  readonly skipPermission: true;
  handler(input: unknown, call: { readonly toolCallId: string }): Promise<SdkToolResult>;
}

export interface SdkToolResult {
  readonly textResultForLlm: string;
  readonly resultType: 'success' | 'failure';
  readonly binaryResultsForLlm?: readonly {
    readonly type: 'image';
    readonly data: string;
    readonly mimeType: string;
  }[];
}

interface SessionHooks {
  onPreToolUse(input: ToolHookInput, invocation: HookInvocation): Promise<PreToolUseAnswer | undefined>;
  onPostToolUse(
    input: ToolHookInput & { readonly toolResult: SdkToolResult },
    invocation: HookInvocation,
  ): Promise<HookContext | undefined>;
  onPostToolUseFailure(
    input: ToolHookInput & { readonly error: string },
    invocation: HookInvocation,
  ): Promise<HookContext | undefined>;
  onUserPromptSubmitted(input: HookInput, invocation: HookInvocation): Promise<HookContext | undefined>;
}

export interface HookInput {
  /** The id of a sub-agent, or that of the session. */
  readonly sessionId?: string;
}

export interface HookInvocation {
  readonly sessionId: string;
}

/** Hook inputs do not contain the id of the call. */
export interface ToolHookInput extends HookInput {
  readonly toolName: string;
  readonly toolArgs: unknown;
}

export interface HookContext {
  readonly additionalContext: string;
}

/** What `ask_user` asks. */
export interface UserQuestion {
  readonly question: string;
  readonly choices?: readonly string[];
}

/** Never `allow`, because that could skip the permission request that follows. */
export interface PreToolUseAnswer {
  readonly permissionDecision?: 'deny';
  readonly permissionDecisionReason?: string;
  readonly modifiedArgs?: unknown;
}

/** The members depend on the kind. Later versions have more kinds. */
export interface PermissionRequest {
  readonly kind: string;
  readonly toolCallId?: string;
  readonly intention?: string;
  readonly fullCommandText?: string;
  readonly path?: string;
  readonly fileName?: string;
  readonly url?: string;
  readonly serverName?: string;
  readonly toolName?: string;
  readonly fact?: string;
  readonly warning?: string;
}

export type PermissionDecision =
  | { readonly kind: 'approve-once' }
  | { readonly kind: 'reject'; readonly feedback: string };

/** `name` is not a literal, so that the compiler does not look for the types of the optional package. */
export async function loadSdk(name: string = SDK_PACKAGE): Promise<CopilotSdk> {
  try {
    return (await import(name)) as CopilotSdk;
  } catch (error) {
    const why = errorText(error);
    throw new AgentError('agent-missing', `The Copilot SDK cannot be loaded: npm install ${SDK_PACKAGE} (${why})`);
  }
}

/** The events that this agent reads, of many more. */
interface EventHead {
  readonly id: string;
  /** The sub-agent that the event belongs to, if any. */
  readonly agentId?: string;
}

export type SdkEvent = EventHead &
  (
    | { readonly type: 'user.message'; readonly data: { readonly messageId?: string; readonly content?: string } }
    | { readonly type: 'subagent.started'; readonly data: SubAgentStart }
    | { readonly type: 'subagent.completed'; readonly data: { readonly cancelled?: boolean } }
    | { readonly type: 'subagent.failed'; readonly data: { readonly error?: string } }
    | {
        readonly type: 'assistant.message_delta' | 'assistant.reasoning_delta';
        readonly data: { deltaContent: string };
      }
    | { readonly type: 'assistant.tool_call_delta'; readonly data: ToolDelta }
    | { readonly type: 'assistant.intent'; readonly data: { readonly intent: string } }
    | { readonly type: 'assistant.usage'; readonly data: SdkUsage }
    | { readonly type: 'tool.execution_start'; readonly data: ToolStart }
    | {
        readonly type: 'tool.execution_partial_result';
        readonly data: { readonly toolCallId: string; readonly partialOutput: string };
      }
    | { readonly type: 'tool.execution_complete'; readonly data: ToolEnd }
    | { readonly type: 'session.title_changed'; readonly data: { readonly title: string } }
    | { readonly type: 'model.call_failure'; readonly data: ModelFailure }
    | { readonly type: 'session.error'; readonly data: SdkError }
    | { readonly type: 'session.idle'; readonly data: { readonly aborted?: boolean } }
  );

export interface SubAgentStart {
  /** The call that started it. */
  readonly toolCallId: string;
  /** The sub-agent that made the call; undefined for Copilot itself. */
  readonly parentId?: string;
  readonly agentDisplayName: string;
  /** Its task, in the words of the agent that started it. */
  readonly agentDescription: string;
}

export interface ToolDelta {
  readonly toolCallId: string;
  readonly toolName?: string;
  readonly inputDelta: string;
}

export interface ToolStart {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments?: unknown;
}

export interface ToolEnd {
  readonly toolCallId: string;
  readonly success: boolean;
  readonly result?: { readonly content: string };
  readonly error?: { readonly message: string };
}

export interface SdkUsage {
  readonly model: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}

export interface SdkError {
  readonly errorType?: string;
  readonly message: string;
  readonly statusCode?: number;
}

export interface ModelFailure {
  readonly statusCode?: number;
  readonly failureKind?: string;
  readonly errorMessage?: string;
}
