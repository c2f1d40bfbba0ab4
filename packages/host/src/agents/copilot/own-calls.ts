/**
 * The calls of one turn that Copilot runs itself. Events name a call by its id, hooks only by tool and arguments, and the
 * hooks of sub-agents come before the events. Ids repeat from step to step, so a call is forgotten once it is over.
 */
import type { AgentTurn } from '../../core/contracts/agent.js';
import { OUTPUT_MAX_CHARACTERS } from './limits.js';
import { type AskingCall, decide, rejected } from './permission.js';
import type { HookContext, PermissionDecision, PermissionRequest, PreToolUseAnswer, ToolHookInput } from './sdk.js';
import type { ToolEnd, ToolStart } from './sdk-events.js';
import { wordsFor } from './words.js';

interface Entry extends AskingCall {
  readonly tool: string;
  /** As JSON, once they are known. */
  input?: string;
  past: string;
  /** `checked` once the gates had their say, `over` once its result is on everybody's screen. */
  stage: 'begun' | 'checked' | 'over';
}

export class OwnCalls {
  readonly #turn: AgentTurn;
  readonly #entries = new Map<string, Entry>();
  /** Calls that hooks asked about before any event had named them. */
  readonly #nameless = new Set<Entry>();

  constructor(turn: AgentTurn) {
    this.#turn = turn;
  }

  delta(toolCallId: string, tool: string, text: string): void {
    this.#entry(toolCallId, tool).call.delta(text);
  }

  started({ toolCallId, toolName, arguments: toolArgs }: ToolStart): void {
    const early = this.#entries.has(toolCallId) ? undefined : like(this.#nameless, { toolName, toolArgs });
    if (early) {
      this.#nameless.delete(early);
      this.#entries.set(toolCallId, early);
    } else {
      this.#entry(toolCallId, toolName).input = JSON.stringify(toolArgs ?? {});
    }
  }

  /** Gates decide. Their silence is no permission: Copilot then asks as it always does. */
  async check(hook: ToolHookInput): Promise<PreToolUseAnswer | undefined> {
    const { toolName, toolArgs } = hook;
    const entry = like(this.#entries.values(), hook, 'begun') ?? this.#early(hook);
    const { invocation, past } = wordsFor(toolName, toolArgs);
    entry.stage = 'checked';
    entry.past = past;
    const permit = await entry.call.check(toolArgs, invocation);
    if (permit.kind === 'granted') return permit.input === undefined ? undefined : this.#changed(entry, permit.input);
    entry.stage = 'over';
    return { permissionDecision: 'deny', permissionDecisionReason: permit.reason };
  }

  async permit(request: PermissionRequest): Promise<PermissionDecision> {
    const entry = this.#entries.get(request.toolCallId ?? '');
    if (!entry) return rejected('Nobody knows which call this is for.');
    const decision = await decide(request, entry, this.#turn.workingDirectory);
    if (decision.kind === 'reject') entry.stage = 'over';
    return decision;
  }

  progress(toolCallId: string, output: string): void {
    const entry = this.#entries.get(toolCallId);
    if (entry && entry.stage !== 'over') entry.call.progress(textContent(output));
  }

  /** Before Copilot reads the result itself. What gates and hooks noted goes to the model along with it. */
  async done(hook: ToolHookInput, success: boolean, output: string): Promise<HookContext | undefined> {
    const entry = like(this.#entries.values(), hook, 'checked');
    if (!entry) return undefined;
    const notes = await this.#complete(entry, success, output);
    return notes === '' ? undefined : { additionalContext: notes };
  }

  /** After everything else; results that no hook is told of come only here. */
  async ended({ toolCallId, success, result, error }: ToolEnd): Promise<void> {
    const entry = this.#entries.get(toolCallId);
    this.#entries.delete(toolCallId);
    if (entry) await this.#complete(entry, success, result?.content ?? error?.message ?? '');
  }

  async #complete(entry: Entry, success: boolean, output: string): Promise<string> {
    if (entry.stage === 'over') return '';
    entry.stage = 'over';
    const content = textContent(output);
    const shown = content.map(({ text }) => text).join('');
    const outcome = await entry.call.complete({
      success,
      pastTenseMessage: success ? entry.past : `Could not use ${entry.tool}`,
      content,
      ...(!success && { error: { message: shown || 'It failed.' } }),
    });
    if (outcome.kind === 'denied' || !outcome.text.startsWith(shown)) return '';
    return outcome.text.slice(shown.length).trim();
  }

  #entry(toolCallId: string, tool: string): Entry {
    const entry = this.#entries.get(toolCallId) ?? this.#begin(tool);
    this.#entries.set(toolCallId, entry);
    return entry;
  }

  #early({ toolName, toolArgs }: ToolHookInput): Entry {
    const entry = this.#begin(toolName);
    entry.input = JSON.stringify(toolArgs ?? {});
    this.#nameless.add(entry);
    return entry;
  }

  #begin(tool: string): Entry {
    const { displayName, past } = wordsFor(tool, undefined);
    return { call: this.#turn.ownCall({ name: tool, displayName }), displayName, tool, past, stage: 'begun' };
  }

  /** A person changed the input; what comes later names the call by the new one. */
  #changed(entry: Entry, input: unknown): PreToolUseAnswer | undefined {
    const text = JSON.stringify(input ?? {});
    if (text === entry.input) return undefined;
    entry.input = text;
    return { modifiedArgs: input };
  }
}

/** Of two calls that are alike in everything, either is right. */
function like(
  entries: Iterable<Entry>,
  { toolName, toolArgs }: ToolHookInput,
  stage?: Entry['stage'],
): Entry | undefined {
  const input = JSON.stringify(toolArgs ?? {});
  const isLike = (entry: Entry) => entry.tool === toolName && entry.input === input;
  return [...entries].find((entry) => isLike(entry) && (stage === undefined || entry.stage === stage));
}

function textContent(text: string): { type: 'text'; text: string }[] {
  return text === '' ? [] : [{ type: 'text', text: text.slice(0, OUTPUT_MAX_CHARACTERS) }];
}
