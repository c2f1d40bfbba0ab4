/**
 * Sessions of Claude Code: one file of JSON Lines each, below `projects/<folder>` of its configuration folder. Each
 * line names its predecessor, so a file is a tree; the branch that ends with the newest line is the conversation.
 */
import os from 'node:os';
import path from 'node:path';
import type { Turn } from '@atrium/protocol/ahp-1';
import {
  FOUND_MAX,
  type FoundSession,
  type Json,
  listOf,
  objectOf,
  type PastPicture,
  PastTurns,
  type Source,
  textOf,
  timeOf,
  titleOf,
  tokensOf,
} from './past-session.js';
import { jsonLines, sessionFiles } from './session-lines.js';

/**
 * How much of a file is searched for the session's first message. Only a very long pasted text before it would exceed
 * this.
 */
const HEAD_BYTES = 256 * 1_024;
const SESSION_FILE = /^[0-9a-f]{8}-[0-9a-f-]{27}\.jsonl$/;

export function claudeCode(env: NodeJS.ProcessEnv = process.env): Source {
  const home = env.CLAUDE_CONFIG_DIR || path.join(env.HOME || os.homedir(), '.claude');
  const files = () => sessionFiles(path.join(home, 'projects'), (name) => SESSION_FILE.test(name));
  const idOf = (file: string) => path.basename(file, '.jsonl');
  return {
    ...{ program: 'claude', name: 'Claude Code', agents: ['claude', 'anthropic'] },
    async find() {
      const found: FoundSession[] = [];
      for (const { path: file, modifiedAt } of (await files()).slice(0, FOUND_MAX)) {
        const { firstMessage, ...facts } = await factsOf(jsonLines(file, HEAD_BYTES));
        if (firstMessage !== undefined || facts.title !== undefined)
          found.push({
            ...{ id: idOf(file), title: titleOf(facts.title ?? firstMessage, 'Claude Code') },
            ...{ folder: facts.folder, modifiedAt },
          });
      }
      return found;
    },
    async read(id) {
      const file = (await files()).find((each) => idOf(each.path) === id);
      if (!file) return undefined;
      const lines: Json[] = [];
      let unreadable = 0;
      for await (const line of jsonLines(file.path)) {
        if (line) lines.push(line);
        else unreadable++;
      }
      const { firstMessage, title, folder, createdAt } = await factsOf(lines);
      const subagents = new Subagents([...lines, ...(await subagentLines(file.path, id))]);
      return {
        ...{ id, title: titleOf(title ?? firstMessage, 'Claude Code'), folder, unreadable },
        ...{
          createdAt: createdAt ?? file.modifiedAt,
          modifiedAt: file.modifiedAt,
          turns: turnsOf(id, lines, subagents),
        },
      };
    },
  };
}

interface Facts {
  title?: string;
  firstMessage?: string;
  folder?: string;
  createdAt?: string;
}

async function factsOf(lines: Iterable<Json | undefined> | AsyncIterable<Json | undefined>): Promise<Facts> {
  const facts: Facts = {};
  for await (const line of lines) {
    if (!line) continue;
    const { type, cwd, timestamp } = line;
    // A person's title takes precedence over one from the program, which takes precedence over the summary of an older
    // version.
    if (type === 'custom-title') facts.title = textOf(line.customTitle) ?? facts.title ?? '';
    else if (type === 'ai-title') facts.title ??= textOf(line.aiTitle) ?? '';
    else if (type === 'summary') facts.title ??= textOf(line.summary) ?? '';
    if (typeof cwd === 'string') facts.folder ??= cwd;
    const time = timeOf(timestamp);
    if (time !== undefined) facts.createdAt ??= time;
    const message = personText(line);
    if (message !== undefined && message !== '') facts.firstMessage ??= message;
  }
  if (facts.title === '') delete facts.title;
  return facts;
}

/** Newer versions write the work of a sub-agent to its own file, near that of its session. */
const SUBAGENT_FILE = /^agent-[\w-]{1,100}\.jsonl$/;
/** How many files of sub-agents one session may have; a folder may hold those of many sessions. */
const SUBAGENTS_MAX = 200;
const SUBAGENT_FILES_MAX = 2_000;

async function subagentLines(file: string, session: string): Promise<Json[]> {
  const near = await sessionFiles(path.dirname(file), (name) => SUBAGENT_FILE.test(name));
  const lines: Json[] = [];
  let count = 0;
  for (const { path: place } of near.slice(0, SUBAGENT_FILES_MAX)) {
    if (count >= SUBAGENTS_MAX) break;
    const own: Json[] = [];
    for await (const line of jsonLines(place)) {
      if (!line) continue;
      if (line.isSidechain !== true || line.sessionId !== session) break;
      own.push(line);
    }
    if (own.length > 0) count++;
    lines.push(...own);
  }
  return lines;
}

/** The messages of sub-agents, by the task that each was given and by the id in the call's result. */
class Subagents {
  readonly #byTask = new Map<string, Json[]>();
  readonly #byId = new Map<string, Json[]>();
  readonly #taken = new Set<Json[]>();

  constructor(lines: readonly Json[]) {
    const groups = new Map<string, Json[]>();
    for (const line of lines) {
      const { uuid, parentUuid, isSidechain, agentId } = line;
      if (isSidechain !== true || typeof uuid !== 'string') continue;
      const group = groups.get(String(parentUuid)) ?? [];
      group.push(line);
      groups.set(uuid, group);
      if (group.length > 1 || line.type !== 'user') continue;
      const task = plainText(objectOf(line.message));
      if (task !== '') this.#byTask.set(task, group);
      if (typeof agentId === 'string') this.#byId.set(agentId, group);
    }
  }

  /** Returns the work of each sub-agent only once. */
  of(input: Json, agentId: unknown): readonly Json[] {
    const group = this.#byId.get(String(agentId)) ?? this.#byTask.get(textOf(input.prompt) ?? '') ?? [];
    if (this.#taken.has(group)) return [];
    this.#taken.add(group);
    return group.map((line) => ({ ...line, isSidechain: false }));
  }
}

/** The ids of sub-agents, by the calls that they worked for. */
function agentIdsOf(lines: readonly Json[]): Map<unknown, unknown> {
  return new Map(
    lines.flatMap(({ message, toolUseResult }) =>
      listOf(objectOf(message).content).flatMap(({ tool_use_id }) =>
        tool_use_id === undefined ? [] : [[tool_use_id, objectOf(toolUseResult).agentId] as const],
      ),
    ),
  );
}

function turnsOf(id: string, lines: readonly Json[], subagents?: Subagents): readonly Turn[] {
  const agentIds = subagents ? agentIdsOf(lines) : new Map();
  const turns = new PastTurns(id);
  for (const line of branchOf(lines)) {
    const at = timeOf(line.timestamp);
    const message = objectOf(line.message);
    const asked = personText(line);
    if (line.isCompactSummary === true)
      turns.note(`The conversation was summarised here:\n\n${plainText(message)}`, at);
    else if (asked === INTERRUPTED) turns.cancel();
    else if (asked !== undefined && (asked !== '' || picturesIn(message).length > 0))
      turns.ask(asked, at, picturesIn(message));
    if (line.type === 'assistant') readUsage(turns, message);
    for (const block of listOf(message.content)) {
      if (line.type === 'assistant') {
        readAnswer(turns, block, at);
        if (block.type !== 'tool_use' || !subagents) continue;
        const worked = subagents.of(objectOf(block.input), agentIds.get(block.id));
        if (worked.length > 0) turns.subagent(turnsOf(String(block.id), worked), at);
      } else if (block.type === 'tool_result') {
        const output = typeof block.content === 'string' ? block.content : plainText(block);
        const pictures = picturesIn(block);
        turns.result(String(block.tool_use_id), output, { isError: block.is_error === true, at, pictures });
      }
    }
    if (line.type === 'assistant' && typeof message.content === 'string')
      turns.addText('markdown', message.content, at);
  }
  return turns.finished();
}

function readUsage(turns: PastTurns, { id, model, usage }: Json): void {
  if (typeof id !== 'string' || typeof usage !== 'object') return;
  const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } = objectOf(usage);
  const cached = tokensOf(cache_read_input_tokens);
  const input = tokensOf(input_tokens) + cached + tokensOf(cache_creation_input_tokens);
  turns.used(id, { model: textOf(model), input, cached, output: tokensOf(output_tokens) });
}

function readAnswer(turns: PastTurns, block: Json, at: string | undefined): void {
  if (block.type === 'text') turns.addText('markdown', textOf(block.text) ?? '', at);
  else if (block.type === 'thinking') turns.addText('reasoning', textOf(block.thinking) ?? '', at);
  else if (block.type === 'tool_use') {
    const input = objectOf(block.input);
    turns.call(String(block.id), { name: textOf(block.name) ?? 'tool', input: JSON.stringify(input) }, at);
  }
}

const INTERRUPTED = '[Request interrupted by user]';
/** Claude Code stores text of its own commands and reminders like messages of the person. */
const MACHINE_TEXT = /^<(command-|local-command-|system-reminder|bash-|task-notification)|^Caveat: /;

/** The text of a message that the person wrote; undefined for every other line. */
function personText({ type, isMeta, isSidechain, isCompactSummary, message }: Json): string | undefined {
  if (type !== 'user' || isMeta === true || isSidechain === true || isCompactSummary === true) return undefined;
  const { content } = objectOf(message);
  if (typeof content !== 'string' && listOf(content).some((block) => block.type === 'tool_result')) return undefined;
  const text = plainText(objectOf(message));
  if (text.startsWith(INTERRUPTED.slice(0, -1))) return INTERRUPTED;
  const command = /<command-name>([^<]*)<\/command-name>/.exec(text);
  if (command) return [command[1], /<command-args>([^<]*)<\/command-args>/.exec(text)?.[1]].join(' ').trim();
  return MACHINE_TEXT.test(text) ? undefined : text;
}

function picturesIn({ content }: Json): PastPicture[] {
  return listOf(content).flatMap(({ type, source }) =>
    type === 'image' ? [{ data: textOf(objectOf(source).data) }] : [],
  );
}

function plainText({ content }: Json): string {
  if (typeof content === 'string') return content;
  const texts = listOf(content).map((block) => textOf(block.text) ?? '');
  return texts.filter((text) => text !== '').join('\n');
}

/** The lines of the conversation in order, found from the newest back to the first; work of sub-agents is left out. */
function branchOf(lines: readonly Json[]): Json[] {
  const spoken = lines.filter(({ uuid, isSidechain }) => typeof uuid === 'string' && isSidechain !== true);
  const byId = new Map(spoken.map((line) => [String(line.uuid), line]));
  const branch = new Set<Json>();
  let next = spoken.findLast(({ type }) => type === 'user' || type === 'assistant');
  while (next && !branch.has(next)) {
    branch.add(next);
    const { parentUuid, logicalParentUuid } = next;
    next = byId.get(String(parentUuid ?? logicalParentUuid));
  }
  return withParallelCalls(spoken, branch);
}

/** Parallel calls and their results are not on the branch itself, but belong to its turns. */
function withParallelCalls(spoken: readonly Json[], branch: ReadonlySet<Json>): Json[] {
  const answers = new Set<unknown>([...branch].map(({ message }) => objectOf(message).id ?? ''));
  answers.delete('');
  const calls = new Set<unknown>();
  return spoken.filter((line) => {
    const { id, content } = objectOf(line.message);
    const isPart = branch.has(line) || (line.type === 'assistant' && answers.has(id));
    if (isPart) for (const block of listOf(content)) if (block.type === 'tool_use') calls.add(block.id);
    return isPart || listOf(content).some((block) => calls.has(block.tool_use_id));
  });
}
