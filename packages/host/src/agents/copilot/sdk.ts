/**
 * The part of the Copilot SDK that is used here, by its shape. The package is optional, so nothing may import its types;
 * it is loaded when the first session is opened.
 */
import { AgentError } from '../../core/contracts/agent.js';
import type { SdkEvent } from './sdk-events.js';

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

export interface SdkSession {
  /** `immediate` reaches the model before its next step; otherwise the message waits for its turn. */
  send(message: { readonly prompt: string; readonly mode?: 'enqueue' | 'immediate' }): Promise<string>;
  abort(): Promise<void>;
  setModel(model: string, facts: ModelFacts): Promise<void>;
  disconnect(): Promise<void>;
  readonly rpc: {
    readonly tools: {
      /** Builds tools and prompt anew, at once: every section goes through its callback. */
      initializeAndValidate(): Promise<unknown>;
      getCurrentMetadata(): Promise<{ readonly tools?: readonly { readonly name: string }[] | null }>;
    };
    /** Commands and sub-agents that run in the background. */
    readonly tasks: {
      list(): Promise<{ readonly tasks: readonly { readonly id: string; readonly status: string }[] }>;
      cancel(params: { readonly id: string }): Promise<unknown>;
    };
    readonly history: {
      /** Forgets this event and all that came after it. */
      truncate(params: { readonly eventId: string }): Promise<unknown>;
    };
  };
}

/** A model of one's own: a server with a key, instead of GitHub's. */
export interface ProviderConfig {
  readonly type?: 'openai' | 'azure' | 'anthropic';
  /** With the version for `openai` (`https://…/v1`), without it for `anthropic`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly wireApi?: 'completions' | 'responses';
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is known of a model, beyond what the runtime knows by itself. */
export interface ModelFacts {
  readonly modelCapabilities?: { readonly supports: { readonly vision: boolean } };
}

export interface SessionConfig extends ModelFacts {
  readonly model?: string;
  readonly provider?: ProviderConfig;
  /** Of the person whom the session works for. Unlike the runtime's own, commands do not get to see it. */
  readonly gitHubToken?: string;
  readonly workingDirectory: string;
  readonly streaming: true;
  readonly includeSubAgentStreamingEvents: false;
  readonly enableSessionTelemetry: false;
  readonly enableSessionStore: false;
  readonly suppressResumeEvent?: boolean;
  readonly tools: readonly SdkTool[];
  /** By source and name, such as `builtin:bash`. */
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
  /** The broker asks people; Copilot need not. */
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

export interface SessionHooks {
  onPreToolUse(input: ToolHookInput): Promise<PreToolUseAnswer | undefined>;
  onPostToolUse(input: ToolHookInput & { readonly toolResult: SdkToolResult }): Promise<HookContext | undefined>;
  onPostToolUseFailure(input: ToolHookInput & { readonly error: string }): Promise<HookContext | undefined>;
  onUserPromptSubmitted(): Promise<HookContext | undefined>;
}

/** Hooks are not told the id of the call. */
export interface ToolHookInput {
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

/** Never `allow`: that could pass by whoever is asked afterwards. */
export interface PreToolUseAnswer {
  readonly permissionDecision?: 'deny';
  readonly permissionDecisionReason?: string;
  readonly modifiedArgs?: unknown;
}

/** What a request wants depends on its kind; kinds yet to come have other members. */
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

/** The name is no literal, so that the types of a package that may be missing are never looked for. */
export async function loadSdk(name: string = SDK_PACKAGE): Promise<CopilotSdk> {
  try {
    return (await import(name)) as CopilotSdk;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new AgentError('agent-missing', `The Copilot SDK cannot be loaded: npm install ${SDK_PACKAGE} (${why})`);
  }
}
