/** How configuration values change: merged member by member, or replaced as a whole. */
import { withMembers } from '../reducing.js';

interface ConfigChange {
  readonly config: Record<string, unknown>;
  readonly replace?: boolean | undefined;
}

export function withValues<Config extends { values: Record<string, unknown> }>(
  config: Config,
  { config: values, replace }: ConfigChange,
): Config {
  const { values: current } = config;
  const next = replace ? { ...values } : withMembers(current, values);
  return next === current ? config : { ...config, values: next };
}
