/** The choices for a new session, and the making of it. */
import type { AgentInfo, SessionConfigState } from '@atrium/protocol';
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { newId } from '../host/new-id.js';
import { problemText } from '../host/problem.js';
import { goTo } from '../host/router.js';
import { pathOf, uriOf } from '../model/format.js';

export interface NewSession {
  readonly agent: AgentInfo | undefined;
  readonly model: string;
  readonly folder: string;
  readonly config: SessionConfigState | undefined;
  readonly problem: string | undefined;
  readonly isBusy: boolean;
  chooseAgent(provider: string): void;
  chooseModel(id: string): void;
  chooseFolder(path: string): void;
  setConfig(values: SessionConfigState['values']): void;
  create(text: string): Promise<void>;
}

export function useNewSession(agents: readonly AgentInfo[]): NewSession {
  const { client } = useHost();
  const [provider, chooseProvider] = useState<string>();
  const [model, chooseModel] = useState('');
  const [folder, chooseFolder] = useState(() => pathOf(client.host.defaultDirectory ?? ''));
  const [values, setValues] = useState<SessionConfigState['values']>({});
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const agent = agents.find((each) => each.provider === provider) ?? agents[0];
  const config = useConfig(agent?.provider, folder, values);

  const create = async (text: string) => {
    const workingDirectory = uriOf(folder);
    if (folder.trim() !== '' && workingDirectory === undefined)
      return setProblem(`"${folder}" is not a whole path. Write it from the root on, like /home/me/project.`);
    setBusy(true);
    setProblem(undefined);
    try {
      const uri = await client.createSession({
        ...(agent && { provider: agent.provider }),
        ...(model !== '' && { model: { id: model } }),
        ...(workingDirectory !== undefined && { workingDirectory }),
        ...(Object.keys(values).length > 0 && { config: values }),
      });
      if (text.trim() !== '') {
        const userMessage = { text: text.trim() };
        client.dispatch(uri, { type: 'session/turnStarted', turnId: newId(), userMessage }).catch(() => {});
      }
      goTo({ at: 'session', uri });
    } catch (error) {
      setProblem(problemText(error));
    } finally {
      setBusy(false);
    }
  };

  const chooseAgent = (chosen: string) => {
    chooseProvider(chosen);
    chooseModel('');
  };
  return {
    agent,
    model,
    folder,
    config,
    problem,
    isBusy,
    chooseAgent,
    chooseModel,
    chooseFolder,
    setConfig: setValues,
    create,
  };
}

/** What can be configured depends on what was chosen so far; the host says. */
function useConfig(provider: string | undefined, folder: string, values: SessionConfigState['values']) {
  const { client } = useHost();
  const [config, setConfig] = useState<SessionConfigState>();
  useEffect(() => {
    let isOver = false;
    const workingDirectory = uriOf(folder);
    const params = {
      ...(provider !== undefined && { provider }),
      ...(workingDirectory !== undefined && { workingDirectory }),
      config: values,
    };
    // A host that does not know this offers no configuration; then there is nothing to show.
    client.request('resolveSessionConfig', params).then(
      (resolved) => isOver || setConfig(resolved),
      () => {},
    );
    return () => {
      isOver = true;
    };
  }, [client, provider, folder, values]);
  return config;
}
