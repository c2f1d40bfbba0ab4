/** AHP 0.9: 1.0 without movable, read and archived chats, background work, changesets of chats, and canvases. */
import { SessionStatus } from '../../session/status.js';
import { chained, leaveOut, leaveOutChanges, only, type VersionDelta } from '../upstream/delta.js';
import type { Json } from '../upstream/shapes.js';

const CHAT_FLAGS = SessionStatus.IsRead | SessionStatus.IsArchived;

/** No action of 0.9 sets these flags on a chat, so a chat that showed them could never lose them. */
function withoutChatFlags(chat: Json): Json {
  const { status } = chat;
  return typeof status === 'number' && status & CHAT_FLAGS ? { ...chat, status: status & ~CHAT_FLAGS } : chat;
}

const chatSummary = ['changes', 'movable'];
const sessionSummary = ['chats', 'defaultChat'];

export const ahp09: VersionDelta = {
  version: '0.9.0',
  lacks: {
    channels: ['canvas'],
    methods: ['moveChat'],
    actions: [
      'session/chatsReordered',
      'session/mcpServerBackgroundRequested',
      'chat/isReadChanged',
      'chat/isArchivedChanged',
      'chat/backgroundWorkSet',
      'chat/backgroundWorkRemoved',
      'chat/movableChanged',
      'chat/changesetsChanged',
      'chat/canvasesChanged',
    ],
    // 0.9 and 0.7 have them, but the GitHub Copilot CLI shows an empty input for one, and accepts a yes to it.
    inputReferences: true,
  },
  down: {
    ChatState: chained(leaveOut(...chatSummary, 'changesets', 'backgroundWork', 'canvases'), withoutChatFlags),
    ChatSummary: chained(leaveOut(...chatSummary), withoutChatFlags),
    ChatSummaryChanges: (changes) => {
      const rest = leaveOutChanges(...chatSummary)(changes, {});
      return rest && withoutChatFlags(rest as Json);
    },
    SessionSummary: leaveOut(...sessionSummary),
    SessionSummaryChanges: leaveOutChanges(...sessionSummary),
    McpServerState: only('kind', ['starting'], leaveOut('blocking')),
    AutomationEntry: leaveOut('customizations'),
    AutomationDefinition: leaveOut('disableConditions'),
  },
  up: {},
};
