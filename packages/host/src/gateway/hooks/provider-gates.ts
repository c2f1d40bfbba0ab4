/** Gates of providers: rules that answer by themselves, and questions that a provider answers. */
import { randomUUID } from 'node:crypto';
import type { Gate, GateCall, GateVerdict } from '@atrium/core/contracts/extension.js';
import type { Clock } from '@atrium/core/util/clock.js';
import {
  GATE_TIMEOUT_MS,
  gateDecisionOf,
  type ProviderGateResultMessage,
  type ProviderGateRule,
} from '@atrium/protocol/provider';
import type { ProviderGroup } from '../gateway-session.js';
import type { Binding, Provider } from '../provider.js';
import { type AppliedRule, argumentsOf, RuleBook } from './pre-tool-rules.js';

/** Longer than the gateway's own timeout, which knows for which rules silence means yes. */
const GATE_ANSWER_MAX_MS = GATE_TIMEOUT_MS * 2;

export class Gates {
  readonly #questions = new OpenQuestions<ProviderGateResultMessage>();
  readonly #rules = new RuleBook();

  constructor(private readonly clock: Clock) {}

  /** Two gates for all instances of a provider: first the rules, then the questions. */
  of({ name, bindings }: ProviderGroup): readonly Gate[] {
    if (bindings.every(({ rules }) => rules.length === 0)) return [];
    const applying = (call: GateCall) =>
      bindings.flatMap((binding) => this.#rules.applying(binding, call).map((applied) => ({ ...applied, binding })));
    return [
      {
        name,
        isStatic: true,
        concerns: (call) => applying(call).some(({ rule }) => rule.action !== 'gate'),
        check: (call) => joined(applying(call).flatMap(staticVerdict)),
      },
      {
        name,
        timeoutMs: GATE_ANSWER_MAX_MS,
        concerns: (call) => applying(call).some(({ rule }) => rule.action === 'gate'),
        check: async (call, signal) => {
          const asked = applying(call).flatMap(({ rule, binding }) =>
            rule.action === 'gate' ? [this.#ask(binding, rule, { call, signal })] : [],
          );
          return joined(await Promise.all(asked));
        },
      },
    ];
  }

  answered(provider: Provider, message: ProviderGateResultMessage): void {
    this.#questions.answer(provider, { id: message.callId, topic: message.gateId }, message);
  }

  left(provider: Provider): void {
    this.#questions.left(provider);
  }

  /** Fails closed: no answer is a no, unless the rule says `failOpen`. */
  async #ask(
    binding: Binding,
    { gateId, failOpen = false }: ProviderGateRule,
    { call, signal }: { call: GateCall; signal: AbortSignal },
  ): Promise<GateVerdict> {
    const { provider, sessionId, session, isAway } = binding;
    const check = { gateId, sessionId, tool: call.toolName, args: argumentsOf(call) };
    const canAsk = !isAway && !session.isEnding;
    const answer = canAsk
      ? await this.#questions.ask({
          provider,
          topic: gateId,
          signal,
          deadline: { clock: this.clock, timeoutMs: GATE_TIMEOUT_MS },
          send: (callId) => provider.send({ type: 'gate.check', callId, ...check }),
        })
      : undefined;
    if (answer) return verdictOf(answer);
    const who = provider.instance === undefined ? '' : `${provider.instance} `;
    const why = canAsk ? 'did not answer' : 'is not connected';
    return failOpen ? { kind: 'pass' } : { kind: 'deny', reason: `${who}${why}, so the call does not run` };
  }
}

function verdictOf(answer: ProviderGateResultMessage): GateVerdict {
  const decision = gateDecisionOf(answer);
  const { reason } = answer;
  if (decision === 'deny') return { kind: 'deny', reason: reason ?? 'refused without a reason' };
  return decision === 'context' && reason !== undefined ? { kind: 'pass', note: reason } : { kind: 'pass' };
}

/** Any refusal wins. Notes keep the order of registration, and equal texts appear once. */
function joined(verdicts: readonly GateVerdict[]): GateVerdict {
  const denied = verdicts.find(({ kind }) => kind === 'deny');
  if (denied) return denied;
  const notes = new Set(verdicts.flatMap((verdict) => (verdict.kind === 'pass' ? (verdict.note ?? []) : [])));
  return notes.size === 0 ? { kind: 'pass' } : { kind: 'pass', note: [...notes].join('\n') };
}

/** The rules of an absent provider still deny, but add no context. */
function staticVerdict({ rule, isUnevaluated, binding }: AppliedRule & { readonly binding: Binding }): GateVerdict[] {
  if (rule.action === 'deny') {
    const doubt = isUnevaluated ? ' (whether this rule applies to these arguments could not be evaluated in time)' : '';
    return [{ kind: 'deny', reason: rule.reason + doubt }];
  }
  return rule.action === 'context' && !binding.isAway ? [{ kind: 'pass', note: rule.content }] : [];
}

interface Question {
  readonly provider: Provider;
  readonly topic: string;
  /** Fires when the answer is no longer needed. */
  readonly signal: AbortSignal;
  /** Absent when the caller has a timeout of its own. */
  readonly deadline?: { readonly clock: Clock; readonly timeoutMs: number };
  readonly send: (id: string) => void;
}

interface OpenQuestion<Answer> {
  readonly provider: Provider;
  /** The subject of the question; an answer about something else does not count. */
  readonly topic: string;
  readonly resolve: (answer: Answer | undefined) => void;
}

/** Questions that providers have not answered yet. Each is answered once, by the provider that was asked. */
export class OpenQuestions<Answer> {
  readonly #open = new Map<string, OpenQuestion<Answer>>();

  /** Resolves with the answer, or with undefined if the provider leaves, the signal fires, or the time is up. */
  ask({ provider, topic, signal, deadline, send }: Question): Promise<Answer | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    const id = randomUUID();
    return new Promise((resolve) => {
      const giveUp = () => done(undefined);
      const stopTimer = deadline?.clock.after(deadline.timeoutMs, giveUp);
      const done = (answer: Answer | undefined) => {
        this.#open.delete(id);
        signal.removeEventListener('abort', giveUp);
        stopTimer?.();
        resolve(answer);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#open.set(id, { provider, topic, resolve: done });
      send(id);
    });
  }

  /** Ignores an answer without an open question. */
  answer(provider: Provider, { id, topic }: { id: string; topic: string }, answer: Answer): void {
    const open = this.#open.get(id);
    if (open?.provider === provider && open.topic === topic) open.resolve(answer);
  }

  left(provider: Provider): void {
    for (const open of [...this.#open.values()]) if (open.provider === provider) open.resolve(undefined);
  }
}
