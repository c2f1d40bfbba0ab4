/**
 * Text for the system prompt that a client gives when it creates a session, as the session's property
 * `systemMessageSections`. It is part of the session's configuration, and never changes.
 */
import type { SessionConfigPropertySchema } from '@atrium/protocol/ahp-1';
import { isRecord } from '../util/shape.js';
import { SESSION_SECTIONS_MAX_BYTES } from './limits.js';

export const SESSION_SECTIONS = 'systemMessageSections';

/** The sections that may get text; `safety` and `identity` may not. */
const SECTIONS = ['runtime_instructions', 'environment_context', 'custom_instructions'] as const;
const ACTIONS = ['append', 'prepend'] as const;

export interface SessionSection {
  readonly section: (typeof SECTIONS)[number];
  readonly content: string;
  readonly action: (typeof ACTIONS)[number];
}

/** The property as it is offered. It cannot change after the creation. */
export const SESSION_SECTIONS_PROPERTY: SessionConfigPropertySchema = {
  type: 'object',
  title: 'Text for the system prompt',
  description: `Sections by name, each with content and action ("append" or "prepend"); ${SESSION_SECTIONS_MAX_BYTES} bytes together.`,
  properties: Object.fromEntries(
    SECTIONS.map((section) => [
      section,
      {
        type: 'object' as const,
        title: section.replace('_', ' '),
        properties: {
          content: { type: 'string' as const, title: 'Text' },
          action: { type: 'string' as const, title: 'Where', enum: [...ACTIONS], default: 'append' },
        },
        required: ['content'],
      },
    ]),
  ),
};

/** Says what is wrong with a value of the property; undefined when it fits. */
export function problemOfSessionSections(value: unknown): string | undefined {
  const at = `/config/${SESSION_SECTIONS}`;
  if (!isRecord(value)) return `${at} must be of type object`;
  for (const [section, given] of Object.entries(value)) {
    if (!isOneOf(SECTIONS, section)) return `${at}: there is no section ${section}; there are ${SECTIONS.join(', ')}`;
    if (!isRecord(given) || typeof given.content !== 'string') return `${at}/${section} must have content, a text`;
    const { content: _content, action = 'append', ...others } = given;
    const [strange] = Object.keys(others);
    if (strange !== undefined) return `${at}/${section} has content and action only`;
    if (!isOneOf(ACTIONS, action)) return `${at}/${section}/action must be ${ACTIONS.join(' or ')}`;
  }
  const bytes = sessionSectionsIn({ [SESSION_SECTIONS]: value }).reduce(
    (sum, { content }) => sum + Buffer.byteLength(content),
    0,
  );
  return bytes > SESSION_SECTIONS_MAX_BYTES
    ? `${at} may have at most ${SESSION_SECTIONS_MAX_BYTES} bytes of text together, but has ${bytes}`
    : undefined;
}

/** The sections in a session's configuration, which were checked when the session was created. */
export function sessionSectionsIn(values: Readonly<Record<string, unknown>> | undefined): readonly SessionSection[] {
  const given = values?.[SESSION_SECTIONS];
  if (!isRecord(given)) return [];
  return SECTIONS.flatMap((section) => {
    const entry = Object.hasOwn(given, section) ? given[section] : undefined;
    if (!isRecord(entry) || typeof entry.content !== 'string') return [];
    return { section, content: entry.content, action: entry.action === 'prepend' ? 'prepend' : 'append' };
  });
}

function isOneOf<Value>(values: readonly Value[], value: unknown): value is Value {
  return values.includes(value as Value);
}
