/**
 * A small MCP server on standard input and output, for tests of the host. The first argument says what kind of server it
 * is: a good one, or one of the bad ones.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';

const [kind = 'good', file = ''] = process.argv.slice(2);
const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };
const text = (value) => ({ content: [{ type: 'text', text: value }] });

const tools = [
  { name: 'echo', title: 'Echo', description: 'Says it again.', inputSchema, annotations: { readOnlyHint: true } },
  ...['blocks', 'fail', 'place', 'grow', 'steps', 'wait', 'crash', 'family', 'ask', 'visit', 'sample'].map((name) => ({
    name,
    inputSchema,
  })),
];

const acts = {
  echo: (args) => text(`${args.text}`),
  fail: () => ({ ...text('That went wrong.'), isError: true }),
  place: (args) => text(JSON.stringify({ cwd: process.cwd(), value: process.env[args.text] ?? null })),
  crash: () => process.exit(3),
  blocks: () => ({
    content: [
      { type: 'text', text: 'See:' },
      { type: 'image', data: 'aW1n', mimeType: 'image/png' },
      { type: 'audio', data: 'c25k', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'note://1', text: 'a note' } },
      { type: 'resource', resource: { uri: 'blob://1', blob: 'Ymlu' } },
      { type: 'resource_link', uri: 'note://2', name: 'second', mimeType: 'text/plain', size: 5 },
    ],
    structuredContent: { answer: 42 },
  }),
  async grow(args, _extra, server) {
    tools.push({ name: args.text, inputSchema });
    if (kind === 'prompts') {
      prompts.push({ name: args.text });
      await server.sendPromptListChanged();
    }
    await server.sendToolListChanged();
    return text('grown');
  },
  async steps(_args, { _meta, sendNotification }) {
    for (const progress of [1, 2, 3]) {
      const params = { progressToken: _meta.progressToken, progress, total: 3, message: `Step ${progress}` };
      await sendNotification({ method: 'notifications/progress', params });
      await new Promise((resolve) => setTimeout(resolve, 130));
    }
    return text('stepped');
  },
  /** Never answers; writes down when it is told to give up. */
  wait: (_args, { signal }) => {
    appendFileSync(file, 'waiting\n');
    signal.addEventListener('abort', () => appendFileSync(file, `cancelled: ${signal.reason}\n`));
    return new Promise(() => {});
  },
  /** Puts a form to the person. */
  async ask(args, _extra, server) {
    const properties = {
      name: { type: 'string', title: 'Your name', description: 'As it stands on the door.', minLength: 1 },
      age: { type: 'integer', minimum: 0, maximum: 150 },
      isMember: { type: 'boolean', default: true },
      colour: {
        type: 'string',
        oneOf: [
          { const: 'r', title: 'Red' },
          { const: 'g', title: 'Green' },
        ],
      },
      sizes: { type: 'array', items: { type: 'string', enum: ['S', 'M', 'L'] }, minItems: 1 },
    };
    const requestedSchema = { type: 'object', properties, required: ['name'] };
    const withdrawn = args.text === 'withdraw' ? AbortSignal.timeout(200) : undefined;
    const options = { timeout: 60_000, ...(withdrawn && { signal: withdrawn }) };
    const params = { mode: 'form', message: `Who are you?${args.text ?? ''}`, requestedSchema };
    return text(JSON.stringify(await server.elicitInput(params, options).catch((error) => ({ error: error.message }))));
  },
  async visit(args, _extra, server) {
    const params = { mode: 'url', message: 'Sign in, please.', url: args.text, elicitationId: 'e-1' };
    return text(JSON.stringify(await server.elicitInput(params).catch((error) => ({ error: error.message }))));
  },
  /** Asks for a model without looking whether there is one. */
  async sample(_args, { sendRequest }, server) {
    const { CreateMessageResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
    const params = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 10 };
    const answer = await sendRequest({ method: 'sampling/createMessage', params }, CreateMessageResultSchema).catch(
      ({ code, message }) => ({ code, message }),
    );
    return text(JSON.stringify({ answer, capabilities: server.getClientCapabilities() }));
  },
  /** Starts a child that does not care about the end of input, and perhaps not about being asked either. */
  async family(args) {
    const stubborn = args.text === 'stubborn' ? "process.on('SIGTERM', () => {});" : '';
    const program = `${stubborn} console.log('up'); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    return text(`${child.pid}`);
  },
};

/** Lists of tools that no good server has. */
const lists = {
  many: (cursor) => {
    const page = Number(cursor ?? 0);
    const names = Array.from({ length: 100 }, (_, index) => `tool-${page * 100 + index}`);
    return { tools: names.map((name) => ({ name, inputSchema })), nextCursor: `${page + 1}` };
  },
  endless: (cursor) => ({ tools: [], nextCursor: `${Number(cursor ?? 0) + 1}` }),
  weird: () => ({
    tools: [
      { name: 'naïve café ☕', inputSchema },
      { name: 'naïve_café_☕', inputSchema },
      { name: 'x'.repeat(200), title: ' ', inputSchema },
      { name: 'y'.repeat(300), inputSchema },
      { name: 'wordy', description: 'w'.repeat(10_000), inputSchema },
      { name: 'heavy', inputSchema: { ...inputSchema, description: 'h'.repeat(100_000) } },
      { name: 'plain', inputSchema, annotations: { title: 'Plain one', destructiveHint: false, openWorldHint: 'yes' } },
      { name: 'plain', inputSchema },
      { name: '', inputSchema },
      { name: 'shapeless' },
      null,
    ],
  }),
};

/** Prompts, among them some that no good server has. */
const prompts = [
  {
    name: 'review a text',
    description: 'Reviews\n\x1b[31ma text.',
    arguments: [
      { name: 'topic', required: true },
      { name: 'tone', description: 'How.' },
    ],
  },
  { name: 'broken' },
  { name: 'x'.repeat(100) },
  { name: 'odd', arguments: [{ name: '' }] },
  null,
];

function promptOf({ name, arguments: args = {} }) {
  if (name === 'broken') throw new Error('The prompt is lost.');
  const shown = { type: 'text', text: `REVIEW ${JSON.stringify(args)}` };
  const image = { type: 'image', data: 'aW1n', mimeType: 'image/png' };
  return {
    messages: [
      { role: 'user', content: shown },
      { role: 'user', content: image },
    ],
  };
}

/** Loaded only by servers that get so far, because most of the time of a start goes into it. */
async function serve() {
  const { Server } = await import('@modelcontextprotocol/sdk/server/index.js');
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  const { CallToolRequestSchema, ListToolsRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const { GetPromptRequestSchema, ListPromptsRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const isPrompting = kind === 'prompts';
  const offers = { tools: { listChanged: true }, ...(isPrompting && { prompts: { listChanged: true } }) };
  const capabilities = kind === 'toolless' ? {} : offers;
  const server = new Server({ name: 'test', version: '1.0.0' }, { capabilities });
  if (kind === 'toolless') return server.connect(new StdioServerTransport());
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => lists[kind]?.(params?.cursor) ?? { tools });
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
    acts[params.name](params.arguments ?? {}, extra, server),
  );
  if (isPrompting) {
    server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts }));
    server.setRequestHandler(GetPromptRequestSchema, ({ params }) => promptOf(params));
  }
  if (kind === 'curious') server.oninitialized = () => void curious(server);
  await server.connect(new StdioServerTransport());
}

/** Asks although no tool was called, and writes the answer down. */
async function curious(server) {
  const requestedSchema = { type: 'object', properties: { region: { type: 'string', enum: ['eu', 'us'] } } };
  const answer = await server.elicitInput({ message: 'Which region?', requestedSchema }, { timeout: 60_000 });
  appendFileSync(file, JSON.stringify(answer));
}

function flood(chunk) {
  const write = () => {
    while (process.stdout.write(chunk));
    process.stdout.once('drain', write);
  };
  write();
}

const kinds = {
  exits: () => {
    process.stderr.write('There is no licence.\n');
    process.exitCode = 2;
  },
  /** Reads, and never says a word. Goes when its input ends. */
  hangs: () => process.stdin.resume(),
  /** Does not even go when it is asked to. */
  clings: () => {
    process.on('SIGTERM', () => {});
    setInterval(() => {}, 1_000);
    writeFileSync(file, `${process.pid}`);
  },
  babbles: () => flood('All is well, nothing to see here.\n'),
  drones: () => flood('x'.repeat(65_536)),
  greets: () => {
    process.stdout.write('Welcome!\nLoading …\n\n');
    return serve();
  },
  /** A good one that writes down each of its processes. */
  counted: () => {
    appendFileSync(file, `${process.pid}\n`);
    return serve();
  },
  /** Fails until its file is there, and counts how often it was tried. */
  late: () => {
    appendFileSync(`${file}.tries`, '.');
    if (existsSync(file)) return serve();
    process.exitCode = 1;
  },
  /** Fails at its first start, and is good from the second on. */
  recovers: () => {
    if (existsSync(file)) return serve();
    writeFileSync(file, 'started once');
    process.exitCode = 1;
  },
};

await (kinds[kind] ?? serve)();
