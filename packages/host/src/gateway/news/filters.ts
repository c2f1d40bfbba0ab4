/** Filters sort the events of a provider's own streams: the first rule that matches says how far the news goes. */
import type { ProviderFilterRule } from '@atrium/protocol/provider';
import { type Pattern, tryPatterns } from '../hooks/budget.js';
import { compilePattern } from '../hooks/rules.js';
import type { Binding } from '../provider.js';

interface CompiledFilter {
  readonly pattern: Pattern;
  readonly outcome: ProviderFilterRule['outcome'];
}

export type Outcome = ProviderFilterRule['outcome'];

export class Filters {
  readonly #filters = new WeakMap<Binding, Map<string, readonly CompiledFilter[]>>();

  compile(rules: readonly ProviderFilterRule[]): readonly CompiledFilter[] {
    return rules.map(({ match, outcome }) => ({ pattern: compilePattern(match), outcome }));
  }

  set(binding: Binding, stream: string, filter: readonly CompiledFilter[]): void {
    const streams = this.#filters.get(binding) ?? new Map();
    this.#filters.set(binding, streams);
    if (filter.length === 0) streams.delete(stream);
    else streams.set(stream, filter);
  }

  get(binding: Binding): number {
    return this.#filters.get(binding)?.size ?? 0;
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
