/** Commands about automations. A host without `automations` in its `initialize` result has none of them. */
import { type Static, Type } from 'typebox';
import { MapOf } from '../../schema/define.js';
import { AUTOMATIONS_CHANNEL } from '../channels.js';
import { RootChannel, URI, withRequestMeta } from '../common/types.js';

const AutomationsChannel = Type.Literal(AUTOMATIONS_CHANNEL);

export const AutomationCapabilities = Type.Object(
  {
    create: Type.Optional(Type.Object({}, { description: 'Clients may create automations.' })),
    schedules: Type.Optional(
      Type.Object({ minIntervalMinutes: Type.Optional(Type.Number()) }, { description: 'Schedules are possible.' }),
    ),
    runCancellation: Type.Optional(Type.Object({}, { description: 'Clients may stop runs.' })),
    runHistoryLimit: Type.Optional(Type.Number({ description: 'How many runs the host keeps.' })),
  },
  { $id: 'AutomationCapabilities', description: 'What a host can do with automations; an empty object means yes.' },
);
export type AutomationCapabilities = Static<typeof AutomationCapabilities>;

export const ListAutomationTriggerDefinitionsParams = withRequestMeta(
  Type.Object(
    {
      channel: RootChannel,
      provider: Type.Optional(Type.String()),
      workingDirectories: Type.Optional(Type.Array(URI)),
      sessionConfig: Type.Optional(MapOf(Type.Unknown())),
    },
    { $id: 'ListAutomationTriggerDefinitionsParams', description: 'Asks which events can start an automation.' },
  ),
);
export type ListAutomationTriggerDefinitionsParams = Static<typeof ListAutomationTriggerDefinitionsParams>;

export const ListAutomationTriggerDefinitionsResult = Type.Object(
  { items: Type.Array(MapOf(Type.Unknown(), { description: 'The members of an event trigger.' })) },
  { $id: 'ListAutomationTriggerDefinitionsResult', description: 'The triggers.' },
);
export type ListAutomationTriggerDefinitionsResult = Static<typeof ListAutomationTriggerDefinitionsResult>;

export const RunAutomationParams = withRequestMeta(
  Type.Object(
    {
      channel: AutomationsChannel,
      automation: URI,
      requestId: Type.String({ description: 'The same request under the same id is carried out once.' }),
    },
    { $id: 'RunAutomationParams', description: 'Runs an automation now.' },
  ),
);
export type RunAutomationParams = Static<typeof RunAutomationParams>;

export const RunAutomationResult = Type.Object(
  { resource: URI },
  { $id: 'RunAutomationResult', description: 'The channel of the run.' },
);
export type RunAutomationResult = Static<typeof RunAutomationResult>;

export const FetchAutomationRunsParams = withRequestMeta(
  Type.Object(
    { channel: AutomationsChannel, automation: URI, cursor: Type.Optional(Type.String()) },
    { $id: 'FetchAutomationRunsParams', description: 'Loads older runs into the catalogue.' },
  ),
);
export type FetchAutomationRunsParams = Static<typeof FetchAutomationRunsParams>;

export const FetchAutomationRunsResult = Type.Object(
  {},
  { $id: 'FetchAutomationRunsResult', description: 'Nothing: the runs came with `automation/set`.' },
);
export type FetchAutomationRunsResult = Static<typeof FetchAutomationRunsResult>;
