/** Of two plugins, or two configured servers, with one name only one counts. */
import type { AnySource, Scope } from './source.js';

/**
 * The project's one counts more than the user's, and counts also while it is switched off. But a project that nobody
 * trusts must not put its own in the place of what the user installed.
 */
export function effective(sources: readonly AnySource[], isTrusted: boolean): readonly AnySource[] {
  const order: readonly Scope[] = isTrusted ? ['project', 'user', 'agent'] : ['user', 'agent', 'project'];
  const taken = new Set<string>();
  const winners = new Set<AnySource>();
  for (const scope of order) {
    for (const source of sources.filter((other) => other.scope === scope)) {
      const keys = keysOf(source);
      if (keys.some((key) => taken.has(key))) continue;
      for (const key of keys) taken.add(key);
      winners.add(source);
    }
  }
  return sources.filter((source) => winners.has(source));
}

/** One folder may be reached in two ways, as when a session is in the user's own folder. */
function keysOf({ kind, scope, id, name }: AnySource): readonly string[] {
  return kind === 'directory' || scope === 'agent' ? [id] : [id, `${kind} ${name}`];
}
