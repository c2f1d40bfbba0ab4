/** Which definitions the host accepts. It refuses whatever it cannot do, so that it honours every stored definition. */
import { unknownModel } from '@atrium/core/sessions/creation.js';
import { SESSION_FOLDERS_MAX } from '@atrium/core/sessions/limits.js';
import type {
  AgentInfo,
  AutomationDefinition,
  AutomationEventTrigger,
  AutomationSession,
  AutomationTrigger,
} from '@atrium/protocol/ahp-1';
import {
  AUTOMATION_TITLE_MAX_CHARACTERS,
  AUTOMATION_URI_MAX_CHARACTERS,
  DEFINITION_MAX_CHARACTERS,
  TRIGGER_ID_MAX_CHARACTERS,
  TRIGGERS_MAX,
} from './limits.js';
import { scheduleRefusal } from './schedule.js';

/** The facts about the host that a definition is checked against. */
export interface DefinitionFacts {
  readonly now: number;
  readonly agents: readonly AgentInfo[];
  /** Why an event trigger is unusable; undefined when it is fine. */
  eventRefusal(trigger: AutomationEventTrigger, definition: AutomationDefinition): string | undefined;
}

const AUTOMATION_URI = /^ahp-automation:\/[A-Za-z0-9._~-]+$/;

export function uriRefusal(uri: string): string | undefined {
  if (uri.length > AUTOMATION_URI_MAX_CHARACTERS)
    return `resource may have at most ${AUTOMATION_URI_MAX_CHARACTERS} characters`;
  return AUTOMATION_URI.test(uri)
    ? undefined
    : 'resource must be ahp-automation:/<id>, with letters, digits and . _ ~ -';
}

/** Why a definition is refused; undefined when it is accepted. */
export function definitionRefusal(definition: AutomationDefinition, facts: DefinitionFacts): string | undefined {
  const { title, message, triggers, disableConditions } = definition;
  if (JSON.stringify(definition).length > DEFINITION_MAX_CHARACTERS)
    return `an automation may have at most ${DEFINITION_MAX_CHARACTERS} characters as JSON`;
  if (title.trim() === '') return 'an automation needs a title';
  if (title.length > AUTOMATION_TITLE_MAX_CHARACTERS)
    return `a title may have at most ${AUTOMATION_TITLE_MAX_CHARACTERS} characters`;
  if (message.text.trim() === '') return 'an automation needs a message to send';
  if (!['automation', 'user'].includes(message.origin.kind)) return 'message.origin.kind must be automation';
  // A run begins its own session, long after the message was written, so the message must contain everything.
  const strange = message.attachments?.find(({ type }) => type === 'chat' || type === 'annotations')?.type;
  if (strange !== undefined) return `message.attachments: an automation cannot attach ${strange}: say it in the text`;
  if (disableConditions !== undefined && disableConditions !== null)
    return 'this host knows no disableConditions: leave them out';
  return sessionRefusal(definition.session, definition, facts.agents) ?? triggersRefusal(triggers, definition, facts);
}

function sessionRefusal(
  { provider, model, workingDirectories = [] }: AutomationSession,
  { message }: AutomationDefinition,
  agents: readonly AgentInfo[],
): string | undefined {
  const agent = provider === undefined ? undefined : agents.find((info) => info.provider === provider);
  if (provider !== undefined && !agent) {
    const known = agents.map((info) => info.provider).join(', ') || 'none';
    return `no agent ${provider} is here; there are: ${known}`;
  }
  if (workingDirectories.length > SESSION_FOLDERS_MAX)
    return `a session works in ${SESSION_FOLDERS_MAX} folders at most`;
  const strange = workingDirectories.find((folder) => !folder.startsWith('file:///'));
  if (strange !== undefined) return `${strange} is no folder: use a file URI, file:///…`;
  return agent && (unknownModel(agent, model) ?? unknownModel(agent, message.model));
}

function triggersRefusal(
  triggers: readonly AutomationTrigger[],
  definition: AutomationDefinition,
  facts: DefinitionFacts,
): string | undefined {
  if (triggers.length > TRIGGERS_MAX) return `an automation may have at most ${TRIGGERS_MAX} triggers`;
  const ids = new Set<string>();
  for (const trigger of triggers) {
    const { id } = trigger;
    if (id === '' || id.length > TRIGGER_ID_MAX_CHARACTERS)
      return `the id of a trigger has 1 to ${TRIGGER_ID_MAX_CHARACTERS} characters`;
    if (ids.has(id)) return `two triggers have the id ${id}`;
    ids.add(id);
    const problem = triggerRefusal(trigger, definition, facts);
    if (problem !== undefined) return `trigger ${id}: ${problem}`;
  }
  return undefined;
}

function triggerRefusal(
  trigger: AutomationTrigger,
  definition: AutomationDefinition,
  { now, eventRefusal }: DefinitionFacts,
): string | undefined {
  switch (trigger.kind) {
    case 'schedule': {
      const { schedule, misfirePolicy = 'skip' } = trigger;
      if (!['skip', 'runOnce'].includes(misfirePolicy)) return 'misfirePolicy must be skip or runOnce';
      return scheduleRefusal(schedule, now);
    }
    case 'event':
      return eventRefusal(trigger, definition);
    default:
      return `this host knows no triggers of kind ${(trigger as { kind: string }).kind}`;
  }
}
