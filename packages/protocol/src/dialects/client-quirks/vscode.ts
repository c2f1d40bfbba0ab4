/**
 * VS Code, its editor window and its Agents window [UP-181].
 *
 * Remove `spelling` when no build from before autumn 2026 is in use: later ones say `vscode.ahpSessionUris` and name
 * sessions as the protocol does, as long as the host does not look like a part of VS Code (`_meta` without
 * `vscode.agentHost`, the root without `hostBuild`) [UP-182] [UP-064]. Remove `meant` when its builds name the chat in
 * `completions` and the root in `reconnect` [UP-185] [UP-187].
 */
import { channelKind, ROOT_CHANNEL } from '../../ahp-1/channels.js';
import type { Params } from '../dialect-0.3.js';
import { PLAIN_SPELLING } from './names.js';
import type { ClientQuirks } from './quirks.js';

const WINDOWS: ReadonlySet<unknown> = new Set(['vscode-editor-window', 'vscode-agents-window']);
const SAYS_AHP_SESSION = 'vscode.ahpSessionUris';

export const vscode: ClientQuirks = {
  spelling: (initialize) => {
    if (!isVscode(initialize)) return undefined;
    return membersOf(initialize._meta)[SAYS_AHP_SESSION] === true ? PLAIN_SPELLING : { isByProvider: true };
  },

  meant: (call, view) => {
    const { method, params } = call;
    const { channel } = params;
    if (method === 'reconnect' && channel === undefined) {
      return { method, params: { ...params, channel: ROOT_CHANNEL } };
    }
    if (method !== 'completions' || typeof channel !== 'string' || channelKind(channel) !== 'session') return call;
    return { method, params: { ...params, channel: view.defaultChatOf(channel) ?? channel } };
  },
};

function isVscode({ clientInfo, _meta }: Params): boolean {
  if (WINDOWS.has(membersOf(clientInfo).name)) return true;
  return Object.keys(membersOf(_meta)).some((key) => key.startsWith('vscode.'));
}

function membersOf(value: unknown): Params {
  return typeof value === 'object' && value !== null ? (value as Params) : {};
}
