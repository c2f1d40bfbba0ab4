/** Filters sort the events of a provider's own streams: the first rule that matches says how far the news goes. */
import { type ProviderFilterRule, STREAMS_PER_PROVIDER_MAX } from '@atrium/protocol/provider';
import { tooMany } from '../gateway-error.js';
import { type Pattern, tryPatterns } from '../hooks/budget.js';
import { compilePattern } from '../hooks/rules.js';
import type { Binding } from '../provider.js';

/** Every rule of a filter is tried on every event of its stream. */
export const RULES_PER_FILTER_MAX = 50;

export interface CompiledFilter {
  readonly pattern: Pattern;
  readonly outcome: Outcome;
}

export type Outcome = ProviderFilterRule['outcome'];

/** Throws for a rule that could never be tried. */
export function compileFilter(rules: readonly ProviderFilterRule[]): readonly CompiledFilter[] {
  if (rules.length > RULES_PER_FILTER_MAX) throw tooMany('rules in a filter', RULES_PER_FILTER_MAX);
  return rules.map(({ match, outcome }) => ({ pattern: compilePattern(match), outcome }));
}

export class Filters {
  readonly #filters = new WeakMap<Binding, Map<string, readonly CompiledFilter[]>>();

  /** Throws when the provider has too many filters already. Changing one or taking one away is always possible. */
  check(binding: Binding, stream: string, filter: readonly CompiledFilter[]): void {
    const streams = this.#filters.get(binding);
    const isNew = filter.length > 0 && !streams?.has(stream);
    if (isNew && (streams?.size ?? 0) >= STREAMS_PER_PROVIDER_MAX) throw tooMany('filters', STREAMS_PER_PROVIDER_MAX);
  }

  set(binding: Binding, stream: string, filter: readonly CompiledFilter[]): void {
    const streams = this.#filters.get(binding) ?? new Map();
    this.#filters.set(binding, streams);
    if (filter.length === 0) streams.delete(stream);
    else streams.set(stream, filter);
  }

  /** Where the news goes, if a rule says so. A rule that ran out of time says nothing. */
  outcome(binding: Binding, stream: string, text: string): Outcome | undefined {
    const filter = this.#filters.get(binding)?.get(stream) ?? [];
    if (filter.length === 0) return undefined;
    const results = tryPatterns(
      filter.map(({ pattern }) => pattern),
      text,
    );
    return filter[results.indexOf('match')]?.outcome;
  }
}
