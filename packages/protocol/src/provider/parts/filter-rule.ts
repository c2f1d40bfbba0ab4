import { type Static, Type } from 'typebox';
import { Choice } from '../../schema/define.js';

export const ProviderFilterRule = Type.Object(
  {
    /** A regular expression, tried on the text of the event. */
    match: Type.String(),
    outcome: Choice(['drop', 'keep', 'surface', 'inject']),
  },
  { $id: 'ProviderFilterRule', description: 'Sends the events that match where `outcome` says, whatever their level.' },
);
export type ProviderFilterRule = Static<typeof ProviderFilterRule>;
