/** In the call that started a worker: the state of its chat, and a link to it. */
import { channelKind, type ToolResultSubagentContent } from '@atrium/protocol/ahp-1';
import { useActivityWord, useOpenSession } from '../host/context.js';
import { hashOf } from '../host/router.js';
import { activityOf } from '../model/sessions.js';
import { useStore } from '../model/store.js';

interface Props {
  readonly worker: ToolResultSubagentContent;
}

export function WorkerLink({ worker: { resource, title, description } }: Props) {
  const session = useOpenSession();
  const { chats } = useStore(session.view).session;
  const chat = chats.find((each) => each.resource === resource);
  const activity = activityOf(chat ?? { status: 0 });
  const word = useActivityWord(activity);
  // Some hosts give a worker a session of its own.
  const isChat = chat !== undefined || channelKind(resource) === 'chat';
  const route = isChat ? { uri: session.uri, chat: resource } : { uri: resource };
  return (
    <a className="worker-link" href={hashOf({ at: 'session', ...route })} title={description}>
      <span className={`dot ${activity}`} />
      <span className="title">{chat?.title || title}</span>
      <span className={`word ${activity}`}>{chat ? (chat.activity ?? (activity === 'idle' ? 'Done' : word)) : ''}</span>
    </a>
  );
}
