/** What a script says. `docs/scripted-agent.md` explains it to those who write one. */
import type { SessionInputRequest, UsageInfo } from '@atrium/protocol';

export interface Script {
  /** The id under which clients choose this agent. */
  readonly provider: string;
  readonly displayName: string;
  readonly models?: readonly { readonly id: string; readonly name: string }[];
  /** The system prompt, section by section. */
  readonly sections?: Readonly<Record<string, string>>;
  /** Sessions of this agent fail to open. */
  readonly createError?: ScriptedError;
  /** Steps by the exact text of the message. */
  readonly prompts?: Readonly<Record<string, readonly Step[]>>;
  /** Steps for every other message. */
  readonly default?: readonly Step[];
}

export interface ScriptedError {
  readonly errorType: string;
  readonly message: string;
}

export interface Streaming {
  /** Characters per delta; without it the text is one delta. */
  readonly chunk?: number;
  /** Milliseconds between deltas; without it they come at once. */
  readonly everyMs?: number;
}

export interface ScriptedTool {
  readonly id?: string;
  readonly name: string;
  readonly displayName: string;
  readonly invocationMessage: string;
  readonly pastTenseMessage: string;
  /** As text, or as any JSON value. */
  readonly input?: unknown;
  readonly output: string;
  readonly success: boolean;
  readonly confirm?: boolean;
}

/** An input request, with an id made up when it has none. */
export type ScriptedQuestion = Omit<SessionInputRequest, 'id'> & { readonly id?: string };

/** Every kind of step, by the key that names it. */
export interface Steps {
  readonly text: { readonly text: string } & Streaming;
  readonly reasoning: { readonly reasoning: string } & Streaming;
  readonly tool: { readonly tool: ScriptedTool };
  readonly callTool: { readonly callTool: { readonly name: string; readonly input?: unknown } };
  readonly usage: { readonly usage: UsageInfo };
  readonly title: { readonly title: string };
  readonly ask: { readonly ask: ScriptedQuestion };
  readonly delayMs: { readonly delayMs: number };
  readonly error: { readonly error: ScriptedError };
  readonly showPrompt: { readonly showPrompt: true | string };
}

export type StepKind = keyof Steps;
export type Step = Steps[StepKind];
