/**
 * Sessions of Codex: one file of JSON Lines each, below `sessions/<year>/<month>/<day>` of its folder, with everything
 * that was sent, in order.
 */
import os from 'node:os';
import path from 'node:path';
import {
  dataOf,
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
} from './past-session.js';
import { jsonLines, type SessionFile, sessionFiles } from './session-lines.js';

/** The instructions come before the first message. */
const HEAD_BYTES = 512 * 1_024;
const SESSION_FILE = /^rollout-.*-([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl$/;

export function codex(env: NodeJS.ProcessEnv = process.env): Source {
  const home = env.CODEX_HOME || path.join(env.HOME || os.homedir(), '.codex');
  const files = async () => {
    const found: SessionFile[] = [];
    for (const folder of ['sessions', 'archived_sessions'])
      found.push(...(await sessionFiles(path.join(home, folder), (name) => SESSION_FILE.test(name))));
    return found.sort((a, b) => (a.modifiedAt < b.modifiedAt ? 1 : -1));
  };
  const idOf = (file: string) => SESSION_FILE.exec(path.basename(file))?.[1] ?? '';
  return {
    ...{ program: 'codex', name: 'Codex', agents: ['codex', 'openai'] },
    async find() {
      const found: FoundSession[] = [];
      for (const { path: file, modifiedAt } of (await files()).slice(0, FOUND_MAX)) {
        let folder: string | undefined;
        let message: string | undefined;
        for await (const line of jsonLines(file, HEAD_BYTES)) {
          const { type, payload } = line ?? {};
          if (type === 'session_meta') folder ??= textOf(objectOf(payload).cwd);
          message ??= type === 'response_item' ? personText(objectOf(payload)) : undefined;
          if (message !== undefined) break;
        }
        if (message !== undefined) found.push({ id: idOf(file), title: titleOf(message, 'Codex'), folder, modifiedAt });
      }
      return found;
    },
    async read(id) {
      const file = (await files()).find((each) => idOf(each.path) === id);
      if (!file) return undefined;
      const turns = new PastTurns(id);
      let folder: string | undefined;
      let createdAt: string | undefined;
      let unreadable = 0;
      for await (const line of jsonLines(file.path)) {
        if (!line) unreadable++;
        const { type, payload, timestamp } = line ?? {};
        const at = timeOf(timestamp);
        createdAt ??= at;
        if (type === 'session_meta') folder ??= textOf(objectOf(payload).cwd);
        else if (type === 'response_item') readItem(turns, objectOf(payload), at);
        else if (type === 'compacted')
          turns.note(`The conversation was summarised here:\n\n${textOf(objectOf(payload).message) ?? ''}`, at);
        else if (type === 'event_msg' && objectOf(payload).type === 'turn_aborted') turns.cancel();
      }
      const finished = turns.finished();
      const title = titleOf(finished.find(({ message }) => message.text !== '')?.message.text, 'Codex');
      const { modifiedAt } = file;
      return { id, title, folder, createdAt: createdAt ?? modifiedAt, modifiedAt, turns: finished, unreadable };
    },
  };
}

function readItem(turns: PastTurns, item: Json, at: string | undefined): void {
  const { type, role } = item;
  if (type === 'message') {
    const asked = personText(item);
    if (asked !== undefined) turns.ask(asked, at, picturesIn(item.content));
    else if (role === 'assistant') turns.addText('markdown', plainText(item.content), at);
  } else if (type === 'reasoning') {
    turns.addText('reasoning', plainText(item.summary) || plainText(item.content), at);
  } else if (type === 'function_call' || type === 'custom_tool_call') {
    const input = textOf(item.arguments) ?? textOf(item.input) ?? '';
    turns.call(String(item.call_id), { name: textOf(item.name) ?? 'tool', input }, at);
  } else if (type === 'local_shell_call') {
    const input = JSON.stringify(item.action ?? {});
    turns.call(String(item.call_id ?? item.id), { name: 'shell', input }, at);
  } else if (type === 'web_search_call') {
    const id = String(item.id ?? item.call_id ?? at);
    turns.call(id, { name: 'web_search', input: JSON.stringify(item.action ?? {}) }, at);
    turns.result(id, '', { isError: item.status === 'failed', at });
  } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    const output = outputOf(item.output);
    const pictures = picturesIn(Array.isArray(item.output) ? item.output : objectOf(item.output).content);
    turns.result(String(item.call_id), output.text, { isError: output.isError, at, pictures });
  }
}

/** Older versions wrap the output of a command in JSON. */
function outputOf(output: unknown): { text: string; isError: boolean } {
  if (typeof output !== 'string') {
    const { content, success } = objectOf(output);
    return { text: textOf(content) ?? plainText(Array.isArray(output) ? output : content), isError: success === false };
  }
  if (output.startsWith('{')) {
    try {
      const { output: text, metadata } = objectOf(JSON.parse(output));
      const exitCode = objectOf(metadata).exit_code;
      if (typeof text === 'string') return { text, isError: typeof exitCode === 'number' && exitCode !== 0 };
    } catch {
      // The text only looks like JSON.
    }
  }
  const exit = /^(?:Process exited with code|Exit code:) (\d+)$/m.exec(output.slice(0, 500));
  return { text: output, isError: exit !== null && exit[1] !== '0' };
}

/** Codex sends facts about the machine and instructions as messages of the person. */
const MACHINE_TEXT = /^\s*(<([a-z_]+)>[\s\S]*<\/\2>\s*$|# AGENTS\.md instructions)/;

function personText({ type, role, content }: Json): string | undefined {
  if (type !== 'message' || role !== 'user') return undefined;
  const texts = listOf(content).flatMap((block) => {
    if (block.type === 'input_image') return [''];
    const text = textOf(block.text);
    return text === undefined || MACHINE_TEXT.test(text) ? [] : [text];
  });
  return texts.length > 0 ? texts.filter((text) => text !== '').join('\n') : undefined;
}

function picturesIn(content: unknown): PastPicture[] {
  return listOf(content).flatMap(({ type, image_url }) =>
    type === 'input_image' ? [{ data: dataOf(image_url) ?? dataOf(objectOf(image_url).url) }] : [],
  );
}

function plainText(content: unknown): string {
  return listOf(content)
    .flatMap(({ text }) => textOf(text) ?? [])
    .join('\n');
}
