/** What comes from the SDK while Claude works, as far as it is read here. */

/** Of all messages in one; each has only some of it, and there are types that we do not know. */
export interface ClaudeMessage {
  readonly type: string;
  readonly subtype?: string;
  readonly uuid?: string;
  /** Set on what a sub-agent says. */
  readonly parent_tool_use_id?: string | null;
  /** `stream_event` */
  readonly event?: StreamEvent;
  /** `assistant`, `user` */
  readonly message?: { readonly content?: string | readonly ContentBlock[] };
  /** `assistant`: what kind of failure it stands for. */
  readonly error?: string;
  /** `result` */
  readonly is_error?: boolean;
  readonly result?: string;
  readonly errors?: readonly string[];
  readonly api_error_status?: number | null;
  readonly terminal_reason?: string;
  /** `result`: the messages of ours that it answers. */
  readonly user_message_uuids?: readonly string[];
  /** `system`, `api_retry` */
  readonly attempt?: number;
  readonly max_retries?: number;
}

export interface ContentBlock {
  readonly type: string;
  readonly tool_use_id?: string;
  readonly content?: unknown;
  readonly is_error?: boolean;
}

/** Of Anthropic's messages API. */
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
  readonly message?: { readonly usage?: StepUsage };
  readonly usage?: StepUsage;
}

export interface StepUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
}
