/** The choices for a new session, and its creation. */
import type { Client } from '@atrium/client';
import {
  type AgentInfo,
  branchName,
  branchWords,
  builtinIn,
  hasCallableNames,
  LAST_CHOICE_METHOD,
  type LastChoice,
  literal,
  type Message,
  NEW_BRANCH_PROPERTY,
  type ProtectedResourceMetadata,
  readSlash,
  type SessionState,
  type SessionSummary,
} from '@atrium/protocol/ahp-1';
import { useEffect, useState } from 'react';
import { type Draft, keepDraft, NO_DRAFT } from '../composer/use-draft.js';
import { useHost } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { newId } from '../host/new-id.js';
import { problemText } from '../host/problem.js';
import { goTo } from '../host/router.js';
import { messageOf } from '../host/turns.js';
import { asSentence, pathOf, uriOf } from '../model/format.js';
import { folderInUse, startFolder, timeOf } from '../model/sessions.js';
import { tell } from '../ui/notices.js';
import { neededTokens } from './sign-in.js';
import { type SessionConfig, useSessionConfig } from './use-session-config.js';

export interface NewSession {
  readonly agent: AgentInfo | undefined;
  readonly model: string;
  readonly folder: string;
  readonly config: SessionConfig;
  /** The resources that need a token first. */
  readonly needed: readonly ProtectedResourceMetadata[];
  readonly problem: string | undefined;
  readonly isBusy: boolean;
  chooseAgent(provider: string): void;
  chooseModel(id: string): void;
  chooseFolder(path: string): void;
  /** Resolves with true if the session was created. */
  create(text: string, attachments?: Draft['attachments']): Promise<boolean>;
}

/** `standard`: the agent that the host gives to sessions whose creator chose none. */
export function useNewSession(agents: readonly AgentInfo[], standard: unknown): NewSession {
  const { client, link } = useHost();
  const [chosen, choose] = useState<Choice>();
  const [folder, chooseFolder] = useState(() => pathOf(firstFolder(client, link.sessions.get() ?? [])));
  const last = useLastChoice(folder);
  const { provider } = chosen ?? last;
  const [problem, setProblem] = useState<string>();
  const [needed, setNeeded] = useState<readonly ProtectedResourceMetadata[]>([]);
  const [isBusy, setBusy] = useState(false);
  const agentOf = (wanted: unknown) => agents.find((each) => each.provider === wanted);
  const agent = agentOf(provider) ?? agentOf(standard) ?? agents[0];
  const { model } = chosen ?? (last.provider === agent?.provider ? last : NO_CHOICE);
  const config = useSessionConfig(agent?.provider, folder, last.config);

  const create = async (text: string, attachments: Draft['attachments'] = []) => {
    const workingDirectory = uriOf(folder);
    if (folder.trim() !== '' && workingDirectory === undefined) {
      setProblem(`"${folder}" is not a whole path. Write it from the root on, like /home/me/project.`);
      return false;
    }
    setBusy(true);
    setProblem(undefined);
    setNeeded([]);
    const values = withBranch(config, text);
    try {
      const uri = await client.createSession({
        ...(agent && { provider: agent.provider }),
        ...(workingDirectory !== undefined && { workingDirectories: [workingDirectory] }),
        ...(Object.keys(values).length > 0 && { config: values }),
      });
      if (agent) keepChoice({ provider: agent.provider, model });
      const selected = agent?.models.some(({ id }) => id === model) ? { model: { id: model } } : {};
      // A command of the page, or a typing error of one, waits in the field of the new session.
      const isCommand = builtinIn(text) !== undefined;
      const verdict = readSlash(text.trim(), text.startsWith('/') && !isCommand ? await withNames(client, uri) : {});
      const isSlip = verdict.kind === 'unknown';
      if (isSlip && !isCommand) tell(verdict.advice);
      if (!isSlip && (verdict.text !== '' || attachments.length > 0)) {
        const message = messageOf({ text: verdict.text, attachments, ...selected });
        void startFirst(client, uri, {
          message: verdict.isLiteral ? literal(message) : message,
          folder: workingDirectory,
        });
      }
      keepDraft(uri, { ...NO_DRAFT, ...selected, ...(isSlip && { text, attachments }) });
      goTo({ at: 'session', uri });
      return true;
    } catch (error) {
      const tokens = neededTokens(error);
      if (tokens.length > 0) setNeeded(tokens);
      // The message of the host begins with the parameter that it is about.
      else setProblem(asSentence(problemText(error).replace(/^\/[\w/]+: /, '')));
      return false;
    } finally {
      setBusy(false);
    }
  };

  const chooseAgent = (chosen: string) => {
    setNeeded([]);
    choose({ provider: chosen, model: '' });
  };
  const chooseModel = (id: string) => choose({ provider: agent?.provider ?? '', model: id });
  return {
    agent,
    model,
    folder,
    config,
    needed,
    problem,
    isBusy,
    chooseAgent,
    chooseModel,
    chooseFolder: (path) => {
      setProblem(undefined);
      chooseFolder(path);
    },
    create,
  };
}

/** A worktree gets a branch with the first words of the message, unless the person named one. */
function withBranch({ state, chosen }: SessionConfig, text: string): SessionConfig['chosen'] {
  const isOffered = state?.schema.properties[NEW_BRANCH_PROPERTY] !== undefined;
  const name = branchName(branchWords(text));
  if (!isOffered || name === undefined || chosen[NEW_BRANCH_PROPERTY]) return chosen;
  return { ...chosen, [NEW_BRANCH_PROPERTY]: name };
}

interface First {
  readonly message: Message;
  /** The folder in which the person chose files. */
  readonly folder: string | undefined;
}

/** Files that were chosen in a folder are those of the worktree, for a session that works in one. */
export function movedTo(message: Message, from: string | undefined, to: string | undefined): Message {
  if (from === undefined || to === undefined || !message.attachments) return message;
  const chosen = `${pathOf(from).replace(/\/$/, '')}/`;
  const attachments = message.attachments.map((attachment) => {
    const file = attachment.type === 'resource' ? pathOf(String(attachment.uri)) : '';
    if (attachment.type !== 'resource' || !file.startsWith(chosen)) return attachment;
    const rest = file.slice(chosen.length).split('/').map(encodeURIComponent).join('/');
    return { ...attachment, uri: `${to.replace(/\/$/, '')}/${rest}` };
  });
  return { ...message, attachments };
}

/** A session exists before its first chat, so the message waits for the chat. */
async function startFirst(client: Client, uri: string, { message, folder }: First): Promise<void> {
  try {
    const opened = await client.open(uri);
    const [place] = opened.state.session.workingDirectories ?? [];
    const moved = movedTo(message, folder, place);
    await opened.dispatch({ type: 'chat/turnStarted', turnId: newId(), message: moved }).finally(() => opened.close());
  } catch (error) {
    tell(`The first message was not sent. ${problemText(error)}`);
  }
}

/** A new session needs a moment to find its skills; after this time an unknown command counts as a typing error. */
const NAMES_WAIT_MS = 2_000;

/** The new session, once its skills and commands are known. */
async function withNames(client: Client, uri: string): Promise<SessionState> {
  const session = await client.subscribe(uri, { kind: 'session' });
  let done: () => void = () => {};
  const known = new Promise<void>((resolve) => {
    done = resolve;
  });
  const look = () => hasCallableNames(session.state) && done();
  const off = session.onChange(look);
  const timer = setTimeout(done, NAMES_WAIT_MS);
  look();
  await known;
  clearTimeout(timer);
  off();
  const { state } = session;
  session.close();
  return state;
}

interface Choice {
  readonly provider: string;
  readonly model: string;
}

const NO_CHOICE: Choice = { provider: '', model: '' };

/** The folder of the session that was open last, else that of the newest, else the host's. */
function firstFolder({ host }: Client, sessions: readonly SessionSummary[]): string {
  const [newest] = sessions.filter(({ origin }) => !origin).toSorted((a, b) => timeOf(b) - timeOf(a));
  return folderInUse.get() ?? (newest && startFolder(newest)) ?? host.defaultDirectory ?? '';
}

/** The defaults of a new session: the choices of the last one in this folder. */
function useLastChoice(folder: string): Choice & Pick<LastChoice, 'config'> {
  const { client } = useHost();
  const [last, setLast] = useState<LastChoice>();
  useEffect(() => {
    const uri = uriOf(folder);
    let isOver = false;
    if (uri === undefined || !isAtrium(client)) return;
    client.requestExtension(LAST_CHOICE_METHOD, { folder: uri }).then(
      (answer) => isOver || setLast(answer as LastChoice),
      () => {},
    );
    return () => {
      isOver = true;
    };
  }, [client, folder]);
  const { provider, model = '', config } = last ?? {};
  return { ...(provider === undefined ? keptChoice() : { provider, model }), config };
}

const LAST = 'atrium.last-choice';

/** The last choice in this browser, for folders without a session and for hosts of others. */
function keptChoice(): Choice {
  const [provider = '', model = ''] = (localStorage.getItem(LAST) ?? '').split('\n');
  return { provider, model };
}

function keepChoice({ provider, model }: Choice): void {
  localStorage.setItem(LAST, `${provider}\n${model}`);
}
