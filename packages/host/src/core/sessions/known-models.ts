/** Whether an agent has a model that somebody asks for. One that does not tell its models takes any. */
import type { AgentInfo, ModelSelection } from '@atrium/protocol';
import { didYouMean } from '../util/suggest.js';

/** Models that a refusal names; some agents have hundreds. */
const NAMED_MAX = 20;

/** Why the agent cannot work with it; undefined when it can, or when nobody knows. */
export function unknownModel({ provider, models }: AgentInfo, wanted: ModelSelection | undefined): string | undefined {
  if (!wanted || models.length === 0 || models.some(({ id }) => id === wanted.id)) return undefined;
  const ids = models.map(({ id }) => id);
  const more = ids.length > NAMED_MAX ? ` and ${ids.length - NAMED_MAX} more` : '';
  const hint = didYouMean(wanted.id, ids).replace(/\?$/, '');
  return (
    `the agent ${provider} has no model ${JSON.stringify(wanted.id)}${hint}. ` +
    `It has: ${ids.slice(0, NAMED_MAX).join(', ')}${more}`
  );
}
