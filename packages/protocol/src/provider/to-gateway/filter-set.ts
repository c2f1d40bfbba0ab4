import { type Static, Type } from 'typebox';
import { ProviderFilterRule } from '../parts/filter-rule.js';
import { updateMembers } from '../parts/update-members.js';

export const ProviderFilterSetMessage = Type.Object(
  {
    type: Type.Literal('filter.set'),
    ...updateMembers,
    /** May name another provider's stream (`stream@provider`): that is refused as unauthorized, not as malformed. */
    stream: Type.String({ pattern: '\\S', description: 'One of the own streams.' }),
    rules: Type.Array(ProviderFilterRule, { description: 'The first match wins. An empty list removes the filter.' }),
  },
  { $id: 'ProviderFilterSetMessage', description: 'Lets the gateway sort the events of one of the own streams.' },
);
export type ProviderFilterSetMessage = Static<typeof ProviderFilterSetMessage>;
