/** The events of the Copilot SDK that are read here, by their shape. There are many more. */

interface EventHead {
  readonly id: string;
  /** Whose event it is, when it is that of a sub-agent. */
  readonly agentId?: string;
}

export type SdkEvent = EventHead &
  (
    | { readonly type: 'user.message'; readonly data: { readonly messageId?: string } }
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
