import { type Static, Type } from 'typebox';
import { Choice } from '../../schema/define.js';

export const ProviderFilterRule = Type.Object(
  {
    match: Type.String({ description: 'A regular expression, tried on the text of the event.' }),
    outcome: Choice(['drop', 'keep', 'surface', 'inject'], { description: 'Where the event goes.' }),
  },
  { $id: 'ProviderFilterRule', description: 'Sends the events that match where `outcome` says, whatever their level.' },
);
export type ProviderFilterRule = Static<typeof ProviderFilterRule>;
