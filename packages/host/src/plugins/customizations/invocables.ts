/** Skills, commands, prompts and rules that the model or a person calls by name, and the tool that reads them. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type HostTool, ToolFailure } from '@atrium/core/contracts/tool.js';
import { shorten } from '@atrium/core/util/text.js';
import { hostTool, succeeded } from '../../workspace/tools/host-tool.js';
import { LISTED_DESCRIPTION_MAX_CHARACTERS, LISTED_MAX } from '../formats/limits.js';
import type { Container } from './container.js';

export interface Invocable {
  /** `plugin:skill`; parts of directories have no prefix. */
  readonly name: string;
  readonly shortName: string;
  readonly kind: 'skill' | 'prompt' | 'rule';
  readonly description: string;
  readonly body: string;
  readonly forModel: boolean;
  readonly forPerson: boolean;
  /** The folder with its other files. */
  readonly folder?: string;
}

export function invocablesOf(container: Container): readonly Invocable[] {
  const { parts } = container;
  if (!parts) return [];
  const common = (part: { name: string; description?: string; body: string }) => ({
    ...{ name: container.prefix + part.name, shortName: part.name },
    ...{ description: part.description ?? '', body: part.body },
  });
  return [
    ...parts.skills.map((skill): Invocable => {
      const audience = { forModel: !skill.disableModelInvocation, forPerson: skill.userInvocable };
      return { ...common(skill), kind: 'skill', ...audience, ...(skill.kind === 'skill' && folderOf(skill.uri)) };
    }),
    ...parts.prompts.map(
      (prompt): Invocable => ({ ...common(prompt), kind: 'prompt', forModel: false, forPerson: true }),
    ),
    ...parts.rules
      .filter(({ alwaysApply }) => !alwaysApply)
      .map((rule): Invocable => ({ ...common(rule), kind: 'rule', forModel: true, forPerson: true })),
  ];
}

/** Looks for the full name, or else for a short name that only one of them has. */
export function findInvocable(all: readonly Invocable[], name: string): Invocable | undefined {
  const whole = all.find((invocable) => invocable.name === name);
  if (whole) return whole;
  const short = all.filter(({ shortName }) => shortName === name);
  return short.length === 1 ? short[0] : undefined;
}

/** `$ARGUMENTS` and `{{args}}` stand for everything that was typed, `$1` to `$9` for single words or quoted texts. */
const PLACES = /\$ARGUMENTS|\{\{\s*args\s*\}\}|\$([1-9])(?!\d)/g;

/** The text for the model. The typed arguments replace the placeholders, or follow the text. */
export function expanded({ body, folder }: Invocable, args: string): string {
  const words = wordsIn(args);
  let hasPlace = false;
  const text = body.replace(PLACES, (_place, number: string | undefined) => {
    hasPlace = true;
    return number === undefined ? args : (words[Number(number) - 1] ?? '');
  });
  const below = hasPlace || args === '' ? [] : [`Arguments: ${args}`];
  const files = folder === undefined ? [] : [`Its other files are in ${folder}`];
  return [text.trim(), ...below, ...files].join('\n\n');
}

/** Splits into words; a text in quotation marks is one word. */
function wordsIn(args: string): string[] {
  return [...args.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );
}

export interface TypedCommand {
  readonly name: string;
  readonly args: string;
}

const NAME_MAX_CHARACTERS = 200;

/** Parses a message such as `/deploy:status now`. */
export function typedCommand(message: string): TypedCommand | undefined {
  const [, name, args = ''] = /^\/([^\s/]+)(?:\s+([\s\S]*))?$/.exec(message.trim()) ?? [];
  return name === undefined || name.length > NAME_MAX_CHARACTERS ? undefined : { name, args: args.trim() };
}

function folderOf(uri: string): { folder: string } | undefined {
  return uri.startsWith('file:') ? { folder: path.dirname(fileURLToPath(uri)) } : undefined;
}

export const USE_SKILL = 'use_skill';

/** The tool with which a model reads a skill or a rule that its prompt names. */
export function skillTool(invocables: () => readonly Invocable[]): HostTool {
  return hostTool({
    name: USE_SKILL,
    displayName: 'Use skill',
    description: 'Reads the instructions of a skill or a rule that you were told of by name. Then follow them.',
    annotations: { readOnlyHint: true },
    properties: {
      name: { type: 'string', minLength: 1, description: 'As it is listed, such as deploy:status.' },
      arguments: { type: 'string', description: 'What the skill is to work on, if it takes anything.' },
    },
    required: ['name'],
    invocation: ({ name }) => `Use ${shorten(name, 80)}`,
    async run({ name, arguments: args = '' }) {
      const offered = invocables().filter(({ forModel }) => forModel);
      const found = findInvocable(offered, name);
      if (!found) throw new ToolFailure('NOT_FOUND', `There is no skill "${shorten(name, 80)}" now.`);
      return succeeded(`Used ${found.name}`, expanded(found, args));
    },
  });
}

/** One line each, for the prompt. */
export function listing(invocables: readonly Invocable[]): readonly string[] {
  const lines = invocables.slice(0, LISTED_MAX).map(({ name, description }) => {
    const about = shorten(description, LISTED_DESCRIPTION_MAX_CHARACTERS);
    return about === '' ? `- ${name}` : `- ${name}: ${about}`;
  });
  const more = invocables.length - lines.length;
  return more > 0 ? [...lines, `- and ${more} more`] : lines;
}
