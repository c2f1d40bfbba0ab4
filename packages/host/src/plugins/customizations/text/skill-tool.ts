/** The tool by which a model reads a skill or a rule that it was told of by name. */

import { type HostTool, ToolFailure } from '../../../core/contracts/tool.js';
import { shorten } from '../../../core/util/text.js';
import { hostTool, succeeded } from '../../../workspace/tools/host-tool.js';
import { LISTED_DESCRIPTION_MAX_CHARACTERS, LISTED_MAX } from '../limits.js';
import { expanded, findInvocable, type Invocable } from './invocable.js';

export const USE_SKILL = 'use_skill';

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
