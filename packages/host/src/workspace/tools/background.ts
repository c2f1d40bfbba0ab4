/**
 * `background_list`, `background_read` and `background_stop`: how a model handles commands that `shell` put into the
 * background.
 */
import {
  type BackgroundCommand,
  type BackgroundPort,
  type HostTool,
  type ToolContext,
  ToolFailure,
} from '@atrium/core/contracts/tool.js';
import { count, shorten } from '@atrium/core/util/text.js';
import { hostTool, succeeded } from './host-tool.js';

/** How long one reading may wait for more output. */
export const BACKGROUND_WAIT_MAX_S = 60;

const READ_ONLY = { readOnlyHint: true, openWorldHint: false } as const;
const ID = { type: 'string', minLength: 1, description: 'The id of the command, such as b1.' } as const;

export const backgroundListTool: HostTool = hostTool({
  name: 'background_list',
  displayName: 'List background commands',
  description:
    'Lists the commands that you started in the background: those that still run, and the last ones that ended.',
  annotations: READ_ONLY,
  properties: {},
  required: [],
  invocation: () => 'List background commands',
  async run(_input, context) {
    const all = portOf(context).list();
    const text = all.length === 0 ? 'There are none.' : all.map(line).join('\n');
    return succeeded(`Listed ${count(all.length, 'background command')}`, text);
  },
});

export const backgroundReadTool: HostTool = hostTool({
  name: 'background_read',
  displayName: 'Read background output',
  description:
    'Reads the output of a background command from a mark on; each answer tells you the next mark. "waitSeconds" waits for ' +
    `more output or the end of the command, for at most ${BACKGROUND_WAIT_MAX_S} s.`,
  annotations: READ_ONLY,
  properties: {
    id: ID,
    since: {
      type: 'integer',
      minimum: 0,
      description: 'The mark from the last answer. Default: read from the beginning.',
    },
    waitSeconds: { type: 'integer', minimum: 0, maximum: BACKGROUND_WAIT_MAX_S, description: 'Default: 0.' },
  },
  required: ['id'],
  invocation: ({ id }) => `Read the output of ${shorten(id, 40)}`,
  async run({ id, since = 0, waitSeconds = 0 }, context) {
    const { signal } = context;
    const read = await portOf(context).read(id, { since, waitMs: waitSeconds * 1_000, signal });
    const lost = read.lost === 0 ? '' : `[${read.lost} characters before this are no longer available.]\n`;
    const more = read.next < read.mark ? `${read.mark - read.next} more characters from mark ${read.next} on; ` : '';
    const separator = read.text === '' || read.text.endsWith('\n') ? '' : '\n';
    const text = `${lost}${read.text}${separator}[${more}${state(read)}; next mark: ${read.next}]`;
    return succeeded(`Read the output of ${id}`, text);
  },
});

export const backgroundStopTool: HostTool = hostTool({
  name: 'background_stop',
  displayName: 'Stop background command',
  description: 'Stops a command that you started in the background, and every process that it started.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  properties: { id: ID },
  required: ['id'],
  invocation: ({ id }) => `Stop ${shorten(id, 40)}`,
  async run({ id }, context) {
    const stopped = await portOf(context).stop(id);
    return succeeded(`Stopped ${id}`, line(stopped));
  },
});

export function portOf({ background }: Pick<ToolContext, 'background'>): BackgroundPort {
  if (background) return background;
  throw new ToolFailure('UNAVAILABLE', 'Nothing can run in the background here: this host has no terminals.');
}

function line(command: BackgroundCommand): string {
  return `${command.id}: ${shorten(command.command, 200)} (${state(command)}, mark ${command.mark})`;
}

function state({ end }: BackgroundCommand): string {
  if (!end) return 'running';
  return end.signal === undefined ? `exit code ${end.code}` : `ended by ${end.signal}`;
}
