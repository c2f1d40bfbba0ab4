/**
 * A small agent that speaks the Agent Client Protocol over stdio, written against the protocol's text and not against
 * any library, so that it can also misbehave. It follows the plan in the folder it is started with, and keeps its
 * sessions there: another process of it goes on where this one was.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';

const folder = process.argv[2] ?? '.';
const inFolder = (name) => path.join(folder, name);
const { plan, ways } = JSON.parse(readFileSync(inFolder('plan.json'), 'utf8'));

appendFileSync(inFolder('pids'), `${process.pid}\n`);
if (ways.includes('dies at start')) {
  console.error('the licence has run out');
  process.exit(3);
}
if (ways.includes('prints garbage')) process.stdout.write('Welcome!\n{"half": \n[1, 2]\n"text"\n{"jsonrpc":"2.0"}\n\n');
// It does not end when it is asked to.
if (ways.includes('is deaf')) process.on('SIGTERM', () => {});
if (ways.includes('has forgotten')) {
  for (const name of readdirSync(folder)) if (name.startsWith('s-')) rmSync(inFolder(name));
}
if (ways.includes('has a child')) {
  // It would outlive its parent, holds the pipes, and does not end when it is asked to.
  const stubborn = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); process.send('here');";
  const child = spawn(process.execPath, ['-e', stubborn], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  await once(child, 'message');
  child.disconnect();
  appendFileSync(inFolder('pids'), `${child.pid}\n`);
}

const FAILURES = {
  auth: { code: -32000, message: 'Authentication required' },
  'rate-limited': { code: -32603, message: 'Internal error', data: { details: 'API Error: 429 slow down' } },
  overloaded: { code: -32603, message: 'API Error: 529 {"type":"overloaded_error"}' },
  'context-overflow': { code: -32603, message: 'Internal error', data: 'prompt is too long: 210000 tokens' },
  network: { code: -32603, message: 'fetch failed: ECONNREFUSED 127.0.0.1:9' },
  'model-not-found': { code: -32603, message: 'the model m-1 does not exist' },
  other: { code: -32603, message: 'Internal error' },
};

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const pending = new Map();
let lastId = 0;

function request(method, params) {
  lastId += 1;
  const id = `agent-${lastId}`;
  send({ id, method, params });
  return new Promise((resolve) => pending.set(id, resolve));
}

/** Writes down what the tests want to see. */
const note = (what) => appendFileSync(inFolder('notes.jsonl'), `${JSON.stringify(what)}\n`);

const sessions = new Map();

class Session {
  cancel = () => {};

  constructor(id, { mcpServers }, said = []) {
    this.id = id;
    this.said = said;
    this.server = mcpServers?.[0];
  }

  hear(text) {
    this.said.push(text);
    writeFileSync(inFolder(`${this.id}.json`), JSON.stringify(this.said));
    writeFileSync(inFolder('heard.txt'), this.said.join('\n'));
  }

  update(update) {
    send({ method: 'session/update', params: { sessionId: this.id, update } });
  }

  say(sessionUpdate, text) {
    this.update({ sessionUpdate, content: { type: 'text', text } });
  }

  async prompt({ prompt }) {
    if (ways.includes('dies when asked')) process.exit(9);
    for (const block of prompt) this.hear(block.text ?? JSON.stringify(block));
    this.isCancelled = false;
    const cancelled = new Promise((resolve) => {
      this.cancel = () => {
        this.isCancelled = true;
        resolve({ stopReason: 'cancelled' });
      };
    });
    return Promise.race([this.work(), ...(ways.includes('is deaf') ? [] : [cancelled])]);
  }

  async work() {
    for (;;) {
      const answer = nextAnswer();
      if (answer.fails) throw FAILURES[answer.fails];
      if (answer.dies) process.exit(9);
      if (answer.reasoning) this.say('agent_thought_chunk', answer.reasoning);
      for (const update of answer.updates ?? []) this.update(update);
      for (const ask of answer.requests ?? []) {
        const answered = request(ask.method, { sessionId: this.id, ...ask.params }).then(note);
        if (!answer.isHasty) await answered;
      }
      for (const update of answer.laterUpdates ?? []) this.update(update);
      for (const ask of answer.lateRequests ?? [])
        setTimeout(() => request(ask.method, { sessionId: this.id, ...ask.params }).then(note), 50);
      for (const text of answer.text ?? []) this.say('agent_message_chunk', text);
      if (answer.text) this.hear(answer.text.join(''));
      while (answer.floods && !this.isCancelled) {
        this.say('agent_message_chunk', answer.floods.repeat(1024));
        await new Promise((resolve) => setTimeout(resolve));
      }
      while (answer.keepsCalling) await this.callOnServer(answer.keepsCalling, {}).catch(note);
      if (answer.hangs) await new Promise(() => {});
      if (answer.call) this.hear(await this.call(answer.call));
      else return { stopReason: 'end_turn', ...answer.end, ...(answer.usage && { usage: usageOf(answer.usage) }) };
    }
  }

  /** Like the agents that there are: it tells of the call, asks whether it may, and tells what came of it. */
  async call({ name, input }) {
    const toolCall = {
      toolCallId: `call-${lastId + 1}`,
      title: `mcp__atrium__${name}`,
      kind: 'other',
      rawInput: input,
    };
    this.update({ sessionUpdate: 'tool_call', status: 'pending', ...toolCall });
    const options = [
      { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ];
    const { result } = await request('session/request_permission', {
      sessionId: this.id,
      toolCall: { ...toolCall, title: name },
      options,
    });
    if (result.outcome.optionId !== 'yes') return 'It may not be called.';
    const text = await this.callOnServer(name, input);
    this.update({ sessionUpdate: 'tool_call_update', toolCallId: toolCall.toolCallId, status: 'completed' });
    return text;
  }

  async callOnServer(name, input) {
    if (!this.server) return 'There is no server.';
    const headers = Object.fromEntries(this.server.headers.map((header) => [header.name, header.value]));
    const { Client, StreamableHTTPClientTransport } = await mcp();
    const client = new Client({ name: 'acp-agent', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(this.server.url), { requestInit: { headers } }));
    const { tools } = await client.listTools();
    note({ tools });
    const { content } = await client.callTool({ name, arguments: input });
    await client.close();
    return content.map(({ text }) => text).join('\n');
  }
}

/** Loaded when it is needed: it is large, and most tests are about something else. */
async function mcp() {
  const [client, http] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ]);
  return { ...client, ...http };
}

function nextAnswer() {
  const file = inFolder('next');
  const index = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  writeFileSync(file, String(index + 1));
  return plan[index] ?? { text: ['The plan is over.'] };
}

const usageOf = ({ input, output }) => ({ inputTokens: input, outputTokens: output, totalTokens: input + output });

let model = 'plum-1';

/** Grouped and beside other settings, as agents have them. */
function settings() {
  if (!ways.includes('offers models')) return undefined;
  const plums = ['plum-1', 'plum-2', 'broken'].map((value) => ({ value, name: value.toUpperCase() }));
  return {
    configOptions: [
      { id: 'loud', name: 'Loud', type: 'boolean', category: 'model', currentValue: false },
      {
        id: 'which',
        name: 'Model',
        type: 'select',
        category: 'model',
        currentValue: model,
        options: [{ group: 'p', name: 'Plums', options: plums }],
      },
    ],
  };
}

const METHODS = {
  initialize: async () => ({
    ...(ways.includes('is mute') && (await new Promise(() => {}))),
    ...(ways.includes('is slow') && (await new Promise((resolve) => setTimeout(resolve, 700)))),
    protocolVersion: ways.includes('speaks another version') ? 7 : 1,
    agentCapabilities: {
      loadSession: !ways.includes('cannot load'),
      mcpCapabilities: { http: !ways.includes('takes no tools') },
      ...(ways.includes('takes folders') && { sessionCapabilities: { additionalDirectories: {} } }),
    },
    authMethods: [{ id: 'key', name: 'Orchard key', description: 'run `orchard login`' }],
  }),
  'session/new': async (params) => {
    if (ways.includes('opens no session')) await new Promise(() => {});
    if (ways.includes('wants a login')) throw FAILURES.auth;
    const id = `s-${process.pid}-${sessions.size + 1}`;
    if (ways.includes('takes folders')) note({ opened: params.cwd, folders: params.additionalDirectories });
    sessions.set(id, new Session(id, params));
    writeFileSync(inFolder(`${id}.json`), '[]');
    return { sessionId: id, ...settings() };
  },
  'session/load': (params) => {
    const { sessionId: id } = params;
    const file = inFolder(`${id}.json`);
    if (!existsSync(file)) throw { code: -32002, message: 'no such session' };
    const session = new Session(id, params, JSON.parse(readFileSync(file, 'utf8')));
    sessions.set(id, session);
    note({ loaded: id, ...(ways.includes('takes folders') && { folders: params.additionalDirectories }) });
    for (const text of session.said) session.say('agent_message_chunk', text);
    return { ...settings() };
  },
  'session/set_config_option': ({ configId, value }) => {
    note({ configId, value });
    if (value === 'broken') throw { code: -32603, message: 'the orchard is closed' };
    model = value;
    return settings();
  },
  'session/prompt': (params) => sessions.get(params.sessionId).prompt(params),
  'session/cancel': ({ sessionId }) => sessions.get(sessionId)?.cancel(),
};

async function answer({ id, method, params }) {
  try {
    const result = await METHODS[method](params);
    if (id !== undefined) send({ id, result });
  } catch (error) {
    if (id !== undefined) send({ id, error: error.code ? error : { code: -32603, message: String(error) } });
  }
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.method) return answer(message);
  pending.get(message.id)?.(message);
  pending.delete(message.id);
});
