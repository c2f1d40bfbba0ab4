/** The terminals of the host, and making and ending them. */
import type { TerminalInfo } from '@atrium/protocol';
import { useState } from 'react';
import { useHost, useOpenSession } from '../host/context.js';
import { newId } from '../host/new-id.js';
import { problemText } from '../host/problem.js';
import { useStore } from '../model/store.js';
import { tell } from '../ui/notices.js';
import { chooseTerminal, shownTerminal } from './shown-terminal.js';

export interface Terminals {
  /** Those of this session first. */
  readonly all: readonly TerminalInfo[];
  readonly shown: TerminalInfo | undefined;
  readonly isBusy: boolean;
  create(): Promise<void>;
  dispose(uri: string): Promise<void>;
}

export function useTerminals(): Terminals {
  const { client, link } = useHost();
  const session = useOpenSession();
  const wanted = useStore(shownTerminal);
  const { terminals = [] } = useStore(link.root);
  const [isBusy, setBusy] = useState(false);
  const isOurs = ({ claim }: TerminalInfo) => claim.kind === 'session' && claim.session === session.uri;
  const all = [...terminals.filter(isOurs), ...terminals.filter((each) => !isOurs(each))];
  const shown = all.find(({ resource }) => resource === wanted) ?? all[0];

  const attempt = async (work: () => Promise<unknown>) => {
    setBusy(true);
    await work().catch((error) => tell(problemText(error)));
    setBusy(false);
  };
  const create = () =>
    attempt(async () => {
      const channel = `ahp-terminal:/${newId()}`;
      const cwd = session.state.summary.workingDirectory;
      const claim = { kind: 'client' as const, clientId: client.clientId };
      await client.request('createTerminal', { channel, claim, ...(cwd !== undefined && { cwd }) });
      chooseTerminal(channel);
    });
  const dispose = (uri: string) => attempt(() => client.request('disposeTerminal', { channel: uri }));
  return { all, shown, isBusy, create, dispose };
}
