/** Gates of providers: rules that answer by themselves, and questions that a provider answers. */
import {
  GATE_TIMEOUT_MS,
  gateDecisionOf,
  type ProviderGateResultMessage,
  type ProviderGateRule,
  type ProviderHookRule,
} from '@atrium/protocol/provider';
import type { Gate, GateCall, GateVerdict } from '../../extensions/extension.js';
import { isRecord } from '../../tools/shape.js';
import type { Binding, Provider } from '../provider.js';
import { extensionId, type Group } from '../room.js';
import type { GatewayCore } from '../service.js';
import { Asked } from './asked.js';
import { type CompiledRule, compileRules, matching } from './rules.js';

/** The gateway's own clock comes first: it knows whose silence means yes. */
const BROKER_PATIENCE_MS = GATE_TIMEOUT_MS * 2;

interface Matched {
  readonly binding: Binding;
  readonly rules: readonly ProviderHookRule[];
}

export class Gates {
  readonly #asked = new Asked<ProviderGateResultMessage>();
  readonly #compiled = new WeakMap<readonly ProviderHookRule[], CompiledRule[]>();

  constructor(private readonly core: GatewayCore) {}

  /** Two gates for all instances: the rules first, then the questions. Which rules match is found out once per call. */
  of(group: Group): readonly Gate[] {
    if (group.bindings.every(({ rules }) => rules.length === 0)) return [];
    const found = new WeakMap<GateCall, Matched[]>();
    const matched = (call: GateCall): Matched[] => {
      const known = found.get(call) ?? this.#matched(group, call);
      found.set(call, known);
      return known;
    };
    const hasRule = (call: GateCall, isGate: boolean) =>
      matched(call).some(({ rules }) => rules.some(({ action }) => (action === 'gate') === isGate));
    return [
      {
        name: group.name,
        isStatic: true,
        concerns: (call) => hasRule(call, false),
        check: (call) => staticVerdict(matched(call)),
      },
      {
        name: group.name,
        timeoutMs: BROKER_PATIENCE_MS,
        concerns: (call) => hasRule(call, true),
        check: (call, signal) => this.#ask(matched(call), call, signal),
      },
    ];
  }

  answered(provider: Provider, message: ProviderGateResultMessage): void {
    this.#asked.answer(provider, { id: message.callId, topic: message.gateId }, message);
  }

  left(provider: Provider): void {
    this.#asked.left(provider);
  }

  #matched(group: Group, { toolName, input, owner }: GateCall): Matched[] {
    const call = { tool: toolName, args: argumentsOf(input), provider: providerOf(owner, group) };
    return group.bindings.map((binding) => ({ binding, rules: matching(this.#rulesOf(binding), call) }));
  }

  #rulesOf({ rules }: Binding): CompiledRule[] {
    const compiled = this.#compiled.get(rules) ?? compileRules(rules);
    this.#compiled.set(rules, compiled);
    return compiled;
  }

  async #ask(matched: readonly Matched[], call: GateCall, signal: AbortSignal): Promise<GateVerdict> {
    const asked = matched.flatMap(({ binding, rules }) =>
      rules.flatMap((rule) => (rule.action === 'gate' ? [this.#askOne(binding, rule, { call, signal })] : [])),
    );
    return joined(await Promise.all(asked));
  }

  /** No answer is a no, unless the rule itself says otherwise. */
  async #askOne(
    binding: Binding,
    { gateId, failOpen = false }: ProviderGateRule,
    { call, signal }: { call: GateCall; signal: AbortSignal },
  ): Promise<GateVerdict> {
    const { provider, sessionId } = binding;
    const overdue = new AbortController();
    const stopTimer = this.core.clock.after(GATE_TIMEOUT_MS, () => overdue.abort());
    const check = {
      type: 'gate.check' as const,
      gateId,
      sessionId,
      tool: call.toolName,
      args: argumentsOf(call.input),
    };
    const answer = binding.isAway
      ? undefined
      : await this.#asked.ask({
          provider,
          topic: gateId,
          signal: AbortSignal.any([signal, overdue.signal]),
          send: (callId) => provider.send({ ...check, callId }),
        });
    stopTimer();
    if (!answer) return failOpen ? { kind: 'pass' } : { kind: 'deny', reason: `${provider.title} did not answer` };
    return verdictOf(answer);
  }
}

function verdictOf(answer: ProviderGateResultMessage): GateVerdict {
  const decision = gateDecisionOf(answer);
  const { reason } = answer;
  if (decision === 'deny') return { kind: 'deny', reason: reason ?? 'refused without a reason' };
  return decision === 'context' && reason !== undefined ? { kind: 'pass', note: reason } : { kind: 'pass' };
}

/** Any refusal wins; notes stand in the order of registration. */
function joined(verdicts: readonly GateVerdict[]): GateVerdict {
  const denied = verdicts.find(({ kind }) => kind === 'deny');
  if (denied) return denied;
  const notes = verdicts.flatMap((verdict) => (verdict.kind === 'pass' ? (verdict.note ?? []) : []));
  return notes.length === 0 ? { kind: 'pass' } : { kind: 'pass', note: notes.join('\n') };
}

/** Whoever is away still guards; what it had to add is not said. */
function staticVerdict(matched: readonly Matched[]): GateVerdict {
  return joined(
    matched.flatMap(({ binding, rules }) =>
      rules.flatMap((rule): GateVerdict[] => {
        if (rule.action === 'deny') return [{ kind: 'deny', reason: rule.reason }];
        return rule.action === 'context' && !binding.isAway ? [{ kind: 'pass', note: rule.content }] : [];
      }),
    ),
  );
}

function argumentsOf(input: unknown): Record<string, unknown> {
  return isRecord(input) ? input : {};
}

/** The name of the provider whose tool is called, if it is one's. */
function providerOf(owner: string | undefined, { room }: Group): string | undefined {
  return room.groups().find(({ name }) => extensionId(name) === owner)?.name;
}
