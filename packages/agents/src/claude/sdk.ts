/**
 * The part of `@anthropic-ai/claude-agent-sdk` that this agent uses, with types of our own: the package is optional,
 * and the host is built without it.
 */

import type { ChildProcess } from 'node:child_process';
import { AgentError } from '@atrium/core/contracts/agent.js';
import { errorText } from '@atrium/core/util/text.js';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';

const CLAUDE_PACKAGE = '@anthropic-ai/claude-agent-sdk';

export interface ClaudeSdk {
  query(request: { prompt: AsyncIterable<UserInput>; options: QueryOptions }): ClaudeQuery;
}

export interface ClaudeQuery extends AsyncIterable<ClaudeMessage> {
  interrupt(): Promise<unknown>;
  close(): void;
}

export interface UserInput {
  readonly type: 'user';
  readonly uuid: string;
  readonly message: { readonly role: 'user'; readonly content: readonly InputBlock[] };
  readonly parent_tool_use_id: null;
  readonly priority?: 'next';
}

export type InputBlock =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image';
      readonly source: { readonly type: 'base64'; readonly media_type: string; readonly data: string };
    };

export interface QueryOptions {
  readonly cwd: string;
  /** Absolute paths of further folders that its tools may use. */
  readonly additionalDirectories?: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly model?: string;
  readonly systemPrompt: {
    readonly type: 'preset';
    readonly preset: 'claude_code';
    readonly append?: string;
    readonly snapshot: false;
  };
  readonly settingSources: readonly [];
  readonly strictMcpConfig: true;
  readonly includePartialMessages: true;
  readonly verbatimPrompts: true;
  /** Also forwards the text of sub-agents, with the call that started them. */
  readonly forwardSubagentText: true;
  readonly permissionMode: 'default';
  readonly thinking: { readonly type: 'adaptive'; readonly display: 'summarized' };
  readonly tools: readonly string[];
  readonly mcpServers: Readonly<Record<string, HostServer>>;
  readonly hooks: Readonly<Record<string, readonly HookMatcher[]>>;
  readonly canUseTool: CanUseTool;
  readonly spawnClaudeCodeProcess: (request: SpawnRequest) => ChildProcess;
  /** `sessionId` starts a new conversation with this id; `resume` continues one, possibly from an earlier message. */
  readonly sessionId?: string;
  readonly resume?: string;
  readonly resumeSessionAt?: string;
}

export interface HostServer {
  readonly type: 'sdk';
  readonly name: string;
  readonly instance: Server;
  /** For one call, in milliseconds. */
  readonly timeout: number;
}

export interface SpawnRequest {
  readonly command: string;
  readonly args: string[];
  readonly cwd?: string;
  readonly env: Record<string, string | undefined>;
}

export interface HookMatcher {
  readonly hooks: readonly Hook[];
  /** In seconds. */
  readonly timeout: number;
  readonly onFailure: 'continue' | 'block';
}

export type Hook = (input: HookInput) => Promise<HookOutput>;

/** The members of all hook inputs; each input has some of them. */
export interface HookInput {
  readonly tool_name?: string;
  readonly tool_use_id?: string;
  readonly tool_input?: unknown;
  readonly tool_response?: unknown;
  readonly error?: string;
  /** Set when a sub-agent makes the call. */
  readonly agent_id?: string;
}

export interface HookOutput {
  readonly hookSpecificOutput?: {
    readonly hookEventName: string;
    readonly permissionDecision?: 'deny';
    readonly permissionDecisionReason?: string;
    readonly updatedInput?: Readonly<Record<string, unknown>>;
    readonly additionalContext?: string;
  };
}

export type CanUseTool = (
  name: string,
  input: Record<string, unknown>,
  options: { readonly toolUseID: string; readonly agentID?: string },
) => Promise<PermissionResult>;

export type PermissionResult =
  | { readonly behavior: 'allow'; readonly updatedInput: Record<string, unknown> }
  | { readonly behavior: 'deny'; readonly message: string };

/** Loads the package when the first session needs it. */
export async function loadClaudeSdk(name = CLAUDE_PACKAGE): Promise<ClaudeSdk> {
  try {
    return await import(name);
  } catch (error) {
    const why = errorText(error);
    const advice = `Install it beside the host: npm install ${name}`;
    throw new AgentError('agent-missing', `${name} cannot be loaded. ${advice} (${why})`);
  }
}

/** The members of all messages. Each message has some of them, and there are more types. */
export interface ClaudeMessage {
  readonly type: string;
  readonly subtype?: string;
  readonly uuid?: string;
  /** Set on messages of a sub-agent. */
  readonly parent_tool_use_id?: string | null;
  readonly agent_id?: string;
  /** `stream_event` */
  readonly event?: StreamEvent;
  /** `assistant`, `user` */
  readonly message?: {
    readonly content?: string | readonly ContentBlock[];
    readonly id?: string;
    readonly model?: string;
    readonly usage?: StepUsage;
  };
  /** `assistant`: the kind of failure. */
  readonly error?: string;
  /** `result` */
  readonly is_error?: boolean;
  readonly result?: string;
  readonly errors?: readonly string[];
  readonly api_error_status?: number | null;
  readonly terminal_reason?: string;
  /** `result`: the ids of the messages that it answers. */
  readonly user_message_uuids?: readonly string[];
  /** `system`, `init`: the source of the key; `none` or `oauth` when a person has signed in instead. */
  readonly apiKeySource?: string;
  /** `system`, `api_retry` */
  readonly attempt?: number;
  readonly max_retries?: number;
}

export interface ContentBlock {
  readonly type: string;
  /** `tool_use` */
  readonly id?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly tool_use_id?: string;
  readonly content?: unknown;
  readonly is_error?: boolean;
}

/** An event of Anthropic's messages API. */
export interface StreamEvent {
  readonly type: string;
  readonly index?: number;
  readonly content_block?: { readonly type: string; readonly id?: string; readonly name?: string };
  readonly delta?: {
    readonly type?: string;
    readonly text?: string;
    readonly thinking?: string;
    readonly partial_json?: string;
  };
  readonly message?: { readonly id?: string; readonly model?: string; readonly usage?: StepUsage };
  readonly usage?: StepUsage;
}

export interface StepUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
}
