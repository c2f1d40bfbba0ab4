/** Asks the people in the session, who may be the same person, for a file outside of its folder. */
import { useState } from 'react';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { tell } from '../ui/notices.js';
import { uncover } from '../ui/panel-switch.js';

interface Props {
  readonly uri: string;
  readonly onGranted: () => void;
}

export function AskForAccess({ uri, onGranted }: Props) {
  const { client } = useHost();
  const [isAsking, setAsking] = useState(false);
  const ask = async () => {
    setAsking(true);
    uncover();
    try {
      await client.request('resourceRequest', { uri, read: true });
      onGranted();
    } catch (error) {
      tell(problemText(error));
    } finally {
      setAsking(false);
    }
  };
  return (
    <div className="files-note">
      <button type="button" className="small" disabled={isAsking} onClick={() => void ask()}>
        {isAsking ? 'The question is in the session' : 'Ask to see it'}
      </button>
    </div>
  );
}
