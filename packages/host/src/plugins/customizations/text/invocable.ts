/** What can be called by name, by the model or by a person: skills, commands, prompts, and rules to read. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Container } from '../container.js';

export interface Invocable {
  /** `plugin:skill`; what is in a directory has no prefix. */
  readonly name: string;
  readonly shortName: string;
  readonly kind: 'skill' | 'prompt' | 'rule';
  readonly description: string;
  readonly body: string;
  readonly forModel: boolean;
  readonly forPerson: boolean;
  /** Where its other files are. */
  readonly folder?: string;
}

export function invocablesOf(container: Container): readonly Invocable[] {
  const { loaded } = container;
  if (!loaded) return [];
  const common = (part: { name: string; description?: string; body: string }) => ({
    ...{ name: container.prefix + part.name, shortName: part.name },
    ...{ description: part.description ?? '', body: part.body },
  });
  return [
    ...loaded.skills.map((skill): Invocable => {
      const audience = { forModel: !skill.disableModelInvocation, forPerson: skill.userInvocable };
      return { ...common(skill), kind: 'skill', ...audience, ...(skill.kind === 'skill' && folderOf(skill.uri)) };
    }),
    ...loaded.prompts.map(
      (prompt): Invocable => ({ ...common(prompt), kind: 'prompt', forModel: false, forPerson: true }),
    ),
    ...loaded.rules
      .filter(({ alwaysApply }) => !alwaysApply)
      .map((rule): Invocable => ({ ...common(rule), kind: 'rule', forModel: true, forPerson: true })),
  ];
}

/** The whole name counts first; a short one counts when it can mean only one thing. */
export function findInvocable(all: readonly Invocable[], name: string): Invocable | undefined {
  const whole = all.find((invocable) => invocable.name === name);
  if (whole) return whole;
  const short = all.filter(({ shortName }) => shortName === name);
  return short.length === 1 ? short[0] : undefined;
}

/** The text for the model. What was typed behind the name stands where the text wants it, or below. */
export function expanded({ body, folder }: Invocable, args: string): string {
  const hasPlace = body.includes('$ARGUMENTS');
  const text = hasPlace ? body.replaceAll('$ARGUMENTS', () => args) : body;
  const below = hasPlace || args === '' ? [] : [`Arguments: ${args}`];
  const files = folder === undefined ? [] : [`Its other files are in ${folder}`];
  return [text.trim(), ...below, ...files].join('\n\n');
}

export interface TypedCommand {
  readonly name: string;
  readonly args: string;
}

const NAME_MAX_CHARACTERS = 200;

/** `/deploy:status now` at the very beginning of a message. */
export function typedCommand(message: string): TypedCommand | undefined {
  const [, name, args = ''] = /^\/([^\s/]+)(?:\s+([\s\S]*))?$/.exec(message.trim()) ?? [];
  return name === undefined || name.length > NAME_MAX_CHARACTERS ? undefined : { name, args: args.trim() };
}

function folderOf(uri: string): { folder: string } | undefined {
  return uri.startsWith('file:') ? { folder: path.dirname(fileURLToPath(uri)) } : undefined;
}
