/** Questions that providers have yet to answer. Each is answered once, by the one who was asked. */

import { randomUUID } from 'node:crypto';
import {
  GATE_TIMEOUT_MS,
  gateDecisionOf,
  type ProviderGateResultMessage,
  type ProviderGateRule,
} from '@atrium/protocol/provider';
import type { Gate, GateCall, GateVerdict } from '../../core/contracts/extension.js';
import type { Clock } from '../../core/util/clock.js';
import type { ProviderGroup } from '../gateway-session.js';
import type { Binding, Provider } from '../provider.js';
import { type AppliedRule, argumentsOf, RuleBook } from './rules.js';

interface Open<Answer> {
  readonly provider: Provider;
  /** What was asked about; an answer about something else is none. */
  readonly topic: string;
  readonly resolve: (answer: Answer | undefined) => void;
}

export interface Question {
  readonly provider: Provider;
  readonly topic: string;
  /** Nobody wants the answer any more. */
  readonly signal: AbortSignal;
  /** Without one, whoever asks has a clock of their own. */
  readonly deadline?: { readonly clock: Clock; readonly timeoutMs: number };
  readonly send: (id: string) => void;
}

export class Asked<Answer> {
  readonly #open = new Map<string, Open<Answer>>();

  /** Resolves with the answer; with undefined when the provider went away, or nobody waits for it any longer. */
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

  /** An answer that nobody waits for means nothing. */
  answer(provider: Provider, { id, topic }: { id: string; topic: string }, answer: Answer): void {
    const open = this.#open.get(id);
    if (open?.provider === provider && open.topic === topic) open.resolve(answer);
  }

  left(provider: Provider): void {
    for (const open of [...this.#open.values()]) if (open.provider === provider) open.resolve(undefined);
  }
}

/** Gates of providers: rules that answer by themselves, and questions that a provider answers. */

/** The gateway's own clock comes first: it knows whose silence means yes. */
const BROKER_PATIENCE_MS = GATE_TIMEOUT_MS * 2;

export class Gates {
  readonly #asked = new Asked<ProviderGateResultMessage>();
  readonly #rules = new RuleBook();

  constructor(private readonly clock: Clock) {}

  /** Two gates for all instances: the rules first, then the questions. */
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
        timeoutMs: BROKER_PATIENCE_MS,
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
    this.#asked.answer(provider, { id: message.callId, topic: message.gateId }, message);
  }

  left(provider: Provider): void {
    this.#asked.left(provider);
  }

  /** No answer is a no, unless the rule itself says otherwise. */
  async #ask(
    binding: Binding,
    { gateId, failOpen = false }: ProviderGateRule,
    { call, signal }: { call: GateCall; signal: AbortSignal },
  ): Promise<GateVerdict> {
    const { provider, sessionId, session, isAway } = binding;
    const check = { gateId, sessionId, tool: call.toolName, args: argumentsOf(call) };
    const canAsk = !isAway && !session.isEnding;
    const answer = canAsk
      ? await this.#asked.ask({
          provider,
          topic: gateId,
          signal,
          deadline: { clock: this.clock, timeoutMs: GATE_TIMEOUT_MS },
          send: (callId) => provider.send({ type: 'gate.check', callId, ...check }),
        })
      : undefined;
    if (answer) return verdictOf(answer);
    const who = provider.instance === undefined ? '' : `${provider.instance} `;
    const why = canAsk ? 'did not answer' : 'is not there to ask';
    return failOpen ? { kind: 'pass' } : { kind: 'deny', reason: `${who}${why}, so the call does not run` };
  }
}

function verdictOf(answer: ProviderGateResultMessage): GateVerdict {
  const decision = gateDecisionOf(answer);
  const { reason } = answer;
  if (decision === 'deny') return { kind: 'deny', reason: reason ?? 'refused without a reason' };
  return decision === 'context' && reason !== undefined ? { kind: 'pass', note: reason } : { kind: 'pass' };
}

/** Any refusal wins; notes stand in the order of registration, and what several instances say is said once. */
function joined(verdicts: readonly GateVerdict[]): GateVerdict {
  const denied = verdicts.find(({ kind }) => kind === 'deny');
  if (denied) return denied;
  const notes = new Set(verdicts.flatMap((verdict) => (verdict.kind === 'pass' ? (verdict.note ?? []) : [])));
  return notes.size === 0 ? { kind: 'pass' } : { kind: 'pass', note: [...notes].join('\n') };
}

/** Whoever is away still guards; what it had to add is not said. */
function staticVerdict({ rule, isUntried, binding }: AppliedRule & { readonly binding: Binding }): GateVerdict[] {
  if (rule.action === 'deny') {
    const doubt = isUntried ? ' (whether this rule is meant could not be found out in time for these arguments)' : '';
    return [{ kind: 'deny', reason: rule.reason + doubt }];
  }
  return rule.action === 'context' && !binding.isAway ? [{ kind: 'pass', note: rule.content }] : [];
}
