/** Above the message field: somebody went back in this session, and that can be undone until the next message. */
import { rewoundOf, type SessionState } from '@atrium/protocol/ahp-1';
import { useState } from 'react';
import type { OpenSession } from '../host/open-session.js';
import { problemText } from '../host/problem.js';
import { hashOf } from '../host/router.js';
import { tell } from '../ui/notices.js';
import { VisibleText } from '../ui/visible-text.js';
import { undoRewind } from './going-back.js';
import './rewind.css';

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
}

export function RewoundStrip({ session, state }: Props) {
  const rewound = rewoundOf(state._meta);
  const [isBusy, setBusy] = useState(false);
  if (!rewound) return null;
  const undo = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      tell(await undoRewind(session));
    } catch (error) {
      tell(problemText(error));
    } finally {
      setBusy(false);
    }
  };
  const { message, fork } = rewound;
  const isThere = state.chats.some(({ resource }) => resource === fork);
  return (
    <div className="strip rewound" role="status">
      <span>
        <VisibleText text={message} />
      </span>
      {rewound.state === 'done' && (
        <button type="button" className="small" onClick={() => void undo()}>
          {isBusy ? 'Undoing …' : 'Undo'}
        </button>
      )}
      {fork !== undefined && isThere && (
        <a className="button small quiet" href={hashOf({ at: 'session', uri: session.uri, chat: fork })}>
          Open the fork
        </a>
      )}
    </div>
  );
}
