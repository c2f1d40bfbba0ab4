/**
 * Which rules apply to a call. All rules of a session are tried together when the first gate asks about it; the other
 * gates of the same call find the answer here.
 */
import type { ProviderHookRule } from '@atrium/protocol/provider';
import type { GateCall } from '../../core/contracts/extension.js';
import { isRecord } from '../../core/util/shape.js';
import type { Binding } from '../provider.js';
import type { Room } from '../room.js';
import { type MatchResult, type Pattern, tryPatterns } from './budget.js';
import { pathArguments } from './path-arguments.js';
import { type CompiledRule, compileRules, quickResult, type RuledCall } from './rules.js';

/** Changes come as a new list, so a list stands for its rules. */
type Rules = readonly ProviderHookRule[];

export interface AppliedRule {
  readonly rule: ProviderHookRule;
  /** It could not be tried on this call within its time, and applies to be on the safe side. */
  readonly isUntried: boolean;
}

export class RuleBook {
  readonly #compiled = new WeakMap<Rules, readonly CompiledRule[]>();
  readonly #found = new WeakMap<GateCall, Map<Rules, readonly AppliedRule[]>>();

  /** The rules of one provider in a session that apply, in their order. */
  applying({ rules, room }: Pick<Binding, 'rules' | 'room'>, call: GateCall): readonly AppliedRule[] {
    const found = this.#found.get(call) ?? new Map();
    this.#found.set(call, found);
    if (!found.has(rules)) this.#find([rules, ...listsIn(room)], call, found);
    return found.get(rules) ?? [];
  }

  #find(lists: readonly Rules[], call: GateCall, found: Map<Rules, readonly AppliedRule[]>): void {
    const ruled = ruledCall(call);
    const missing = [...new Set(lists)].filter((rules) => !found.has(rules));
    const candidates = missing.flatMap((rules) => candidatesIn(this.#compiledOf(rules), ruled));
    const patterns = candidates.flatMap(({ pattern }) => pattern ?? []);
    const results = patterns.length === 0 ? [] : tryPatterns(patterns, ruled.text());
    const byPattern = new Map(patterns.map((pattern, index) => [pattern, results[index]]));
    const applied = new Map(candidates.flatMap((candidate) => appliedOf(candidate, byPattern)));
    for (const rules of missing)
      found.set(
        rules,
        rules.flatMap((rule) => applied.get(rule) ?? []),
      );
  }

  #compiledOf(rules: Rules): readonly CompiledRule[] {
    const compiled = this.#compiled.get(rules) ?? compileRules(rules);
    this.#compiled.set(rules, compiled);
    return compiled;
  }
}

/** Of everybody who has a say in this session. */
function listsIn(room: Room): Rules[] {
  return room.bindings.filter(({ provider }) => room.isEnabled(provider.name)).map(({ rules }) => rules);
}

interface Candidate extends CompiledRule {
  readonly quick: MatchResult;
}

function candidatesIn(rules: readonly CompiledRule[], call: RuledCall): Candidate[] {
  return rules
    .map((compiled) => ({ ...compiled, quick: quickResult(compiled, call) }))
    .filter(({ quick }) => quick !== 'no-match');
}

/** Whoever guards something guards it also where nobody can tell; what only adds text stays silent then. */
function appliedOf(
  { rule, quick, pattern }: Candidate,
  byPattern: ReadonlyMap<Pattern, MatchResult | undefined>,
): [ProviderHookRule, AppliedRule][] {
  const tried = pattern ? (byPattern.get(pattern) ?? 'cut') : 'match';
  if (tried === 'no-match') return [];
  const isUntried = tried === 'cut' || quick === 'cut';
  return isUntried && rule.action === 'context' ? [] : [[rule, { rule, isUntried }]];
}

/** Some agents hand over a bare text or a list; rules and gates see these, too. */
export function argumentsOf({ input }: GateCall): Record<string, unknown> {
  return isRecord(input) ? input : { ...(input != null && { value: input }) };
}

function ruledCall(call: GateCall): RuledCall {
  const { toolName, owner, workingDirectory } = call;
  const args = argumentsOf(call);
  let text: string | undefined;
  let paths: readonly string[] | undefined | 'unknown' = 'unknown';
  return {
    tool: toolName,
    owner,
    text: () => {
      text ??= JSON.stringify(args);
      return text;
    },
    paths: () => {
      if (paths === 'unknown') paths = pathArguments(args, workingDirectory);
      return paths;
    },
  };
}
