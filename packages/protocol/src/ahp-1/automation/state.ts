/** Automations: messages that the host sends by itself, on a schedule or an event, and the runs that result. */
import { type Static, Type } from 'typebox';
import { MapOf, OpenChoice, OpenUnion } from '../../schema/define.js';
import { Message } from '../chat/messages.js';
import { AgentSelection, ErrorInfo, Meta, ModelSelection, Timestamp, URI, UsageInfo } from '../common/types.js';
import { Customization } from '../session/customizations.js';

export const AutomationSchedule = Type.Object(
  {
    expression: Type.String({ description: 'Cron, with five fields.' }),
    timeZone: Type.String({ description: 'An IANA name.' }),
  },
  { $id: 'AutomationSchedule', description: 'When an automation runs.' },
);
export type AutomationSchedule = Static<typeof AutomationSchedule>;

export const AutomationScheduleTrigger = Type.Object(
  {
    kind: Type.Literal('schedule'),
    id: Type.String(),
    schedule: AutomationSchedule,
    misfirePolicy: Type.Optional(
      OpenChoice(['skip', 'runOnce'], { description: 'What happens to times that passed while the host was off.' }),
    ),
  },
  { $id: 'AutomationScheduleTrigger', description: 'Runs an automation at certain times.' },
);
export type AutomationScheduleTrigger = Static<typeof AutomationScheduleTrigger>;

export const AutomationEventTrigger = Type.Object(
  {
    kind: Type.Literal('event'),
    id: Type.String(),
    type: Type.String(),
    title: Type.String(),
    description: Type.Optional(Type.String()),
    events: Type.Unknown({ description: 'The events; the kind of trigger defines them.' }),
    config: Type.Optional(MapOf(Type.Unknown())),
  },
  { $id: 'AutomationEventTrigger', description: 'Runs an automation when something happens.' },
);
export type AutomationEventTrigger = Static<typeof AutomationEventTrigger>;

export const AutomationTrigger = OpenUnion('kind', [AutomationScheduleTrigger, AutomationEventTrigger], {
  $id: 'AutomationTrigger',
  description: 'What makes an automation run.',
});
export type AutomationTrigger = Static<typeof AutomationTrigger>;

export const AutomationSession = Type.Object(
  {
    provider: Type.Optional(Type.String()),
    model: Type.Optional(ModelSelection),
    agent: Type.Optional(AgentSelection),
    workingDirectories: Type.Optional(Type.Array(URI)),
    config: Type.Optional(MapOf(Type.Unknown())),
  },
  { $id: 'AutomationSession', description: 'The session that a run creates.' },
);
export type AutomationSession = Static<typeof AutomationSession>;

export const AutomationDefinition = Type.Object(
  {
    title: Type.String(),
    message: Message,
    session: AutomationSession,
    enabled: Type.Boolean(),
    triggers: Type.Array(AutomationTrigger),
    disableConditions: Type.Optional(Type.Unknown({ description: 'When the automation switches itself off.' })),
    _meta: Type.Optional(Meta),
  },
  { $id: 'AutomationDefinition', description: 'What an automation does, and when.' },
);
export type AutomationDefinition = Static<typeof AutomationDefinition>;

export const AutomationManualOrigin = Type.Object(
  { kind: Type.Literal('manual') },
  { $id: 'AutomationManualOrigin', description: 'A person started the run.' },
);
export type AutomationManualOrigin = Static<typeof AutomationManualOrigin>;

export const AutomationTriggerOrigin = Type.Object(
  {
    kind: Type.Literal('trigger'),
    triggerId: Type.String(),
    scheduledFor: Type.Optional(Timestamp),
    catchUp: Type.Optional(Type.Boolean({ description: 'Whether it makes up for a time that passed.' })),
    event: Type.Optional(Type.Unknown()),
  },
  { $id: 'AutomationTriggerOrigin', description: 'A trigger started the run.' },
);
export type AutomationTriggerOrigin = Static<typeof AutomationTriggerOrigin>;

export const AutomationRunOrigin = OpenUnion('kind', [AutomationManualOrigin, AutomationTriggerOrigin], {
  $id: 'AutomationRunOrigin',
  description: 'What started a run.',
});
export type AutomationRunOrigin = Static<typeof AutomationRunOrigin>;

export const AutomationRunLifecycle = Type.Object(
  {
    status: OpenChoice(['pending', 'running', 'completed', 'failed', 'cancelled']),
    createdAt: Timestamp,
    startedAt: Type.Optional(Timestamp),
    completedAt: Type.Optional(Timestamp),
    error: Type.Optional(ErrorInfo),
    usage: Type.Optional(UsageInfo),
  },
  { $id: 'AutomationRunLifecycle', description: 'How far a run is.' },
);
export type AutomationRunLifecycle = Static<typeof AutomationRunLifecycle>;

export const AutomationRunState = Type.Object(
  {
    resource: URI,
    automation: URI,
    origin: AutomationRunOrigin,
    lifecycle: AutomationRunLifecycle,
    sessions: Type.Array(URI),
    primarySession: Type.Optional(URI),
    _meta: Type.Optional(Meta),
  },
  { $id: 'AutomationRunState', description: 'One run of an automation.' },
);
export type AutomationRunState = Static<typeof AutomationRunState>;

export const AutomationOperation = OpenChoice(['update', 'remove', 'run'], {
  $id: 'AutomationOperation',
  description: 'What clients may do with an automation.',
});
export type AutomationOperation = Static<typeof AutomationOperation>;

export const AutomationEntry = Type.Object(
  {
    resource: URI,
    definition: AutomationDefinition,
    nextRunAt: Type.Optional(Timestamp),
    runs: Type.Array(Type.Unknown({ description: 'Runs, newest first.' })),
    runsNextCursor: Type.Optional(Type.String()),
    operations: Type.Array(AutomationOperation),
    createdAt: Timestamp,
    modifiedAt: Timestamp,
    customizations: Type.Optional(Type.Array(Customization)),
    _meta: Type.Optional(Meta),
  },
  { $id: 'AutomationEntry', description: 'An automation in the catalogue.' },
);
export type AutomationEntry = Static<typeof AutomationEntry>;

export const AutomationState = Type.Object(
  { entries: Type.Array(AutomationEntry), _meta: Type.Optional(Meta) },
  { $id: 'AutomationState', description: 'The catalogue of automations.' },
);
export type AutomationState = Static<typeof AutomationState>;
