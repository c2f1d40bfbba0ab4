/**
 * Descriptions of members whose name means the same in every message. A `description` in the schema takes precedence;
 * anything special about one member belongs there.
 */
export const MEMBER_DESCRIPTIONS: Readonly<Record<string, string>> = {
  // Names and texts.
  id: 'The id by which other messages name it.',
  name: 'Its name.',
  title: 'A title, for people.',
  label: 'A short text, for people.',
  displayName: 'Its name, for people.',
  description: 'What it is or does.',
  message: 'What happened, for people.',
  text: 'The text.',
  icons: 'Images for it, in several sizes or themes.',
  uri: 'Its location.',
  resource: 'Its URI.',
  channel: 'The channel that this is about.',

  // Subjects and places.
  turnId: 'The turn that this is about.',
  toolCallId: 'The tool call that this is about.',
  sessionId: 'The session that this is about.',
  clientId: 'The id that the client chose for itself.',
  provider: 'The id of the agent.',
  session: 'The URI of the session.',
  workingDirectory: 'The folder that a session works in.',
  cwd: 'Its working directory.',
  defaultDirectory: 'The folder for new sessions that name none.',
  root: 'The watched resource.',
  src: 'Where the image is.',
  url: 'A page to open.',
  source: 'The resource to copy or move.',
  destination: 'The new location.',
  toolName: 'The tool, as the model calls it.',
  tool: 'The tool, as the model calls it.',
  requestId: 'The request that this is about.',

  // Sequence numbers.
  serverSeq: "Its number in the host's sequence.",
  clientSeq: "Its number in the client's sequence.",
  fromSeq: 'The number of the last action that it includes.',
  lastSeenServerSeq: 'The number of the last action that the client received.',

  // Contents.
  values: 'Values by property name.',
  replace: 'Whether these values replace all others; otherwise they are merged.',
  enabled: 'Whether it is in use.',
  responseParts: 'The answer so far, in the order in which it was streamed.',
  contentType: 'Its media type, such as `text/plain`.',
  sizeHint: 'The approximate size, in bytes.',
  encoding: 'How `data` is encoded.',
  error: 'What went wrong.',
  exitCode: 'The exit code of the process; absent when there is none.',
  durationMs: 'How long it took, in milliseconds.',
  cols: 'Width in characters.',
  rows: 'Height in lines.',
  args: 'Arguments of the call.',
  metadata: 'Anything else; the host ignores it.',
  recursive: 'Whether it includes subfolders.',
  failIfExists: 'Whether to fail when the destination exists.',
  min: 'The minimum.',
  max: 'The maximum.',
  defaultValue: 'The value that is preset.',
  options: 'The options, in display order.',
  allowFreeformInput: 'Whether free text is an answer, too.',
  freeformValues: 'Answers in free text.',
  items: 'The entries.',
  _meta: 'Additional data under keys that this protocol does not define.',

  // Tool calls.
  invocationMessage: 'What the call does, in the present tense.',
  pastTenseMessage: 'What the call did.',
  toolInput: 'The arguments, as JSON text.',
  confirmationTitle: 'The question to the person.',
  editable: 'Whether a person may edit the input before approving.',
  confirmed: 'Why the call may run.',
  selectedOption: 'The button that was pressed.',
  selectedOptionId: 'The button that was pressed, one of the `options` of the call.',
  userSuggestion: 'What the person suggests instead.',
  reasonMessage: 'Why, for people and for the model.',
  success: 'Whether the tool succeeded.',
  structuredContent: 'The result as data, for programs.',

  confirmation: 'The question that a person must confirm first.',
  side: 'Which side of the change is meant.',

  // Telemetry.
  logs: 'The channel for logs.',
  traces: 'The channel for traces.',
  metrics: 'The channel for metrics.',
  payload: 'The exported data.',

  tools: 'Tools that the model may call.',
  serverTools: 'Tools that the host offers.',

  // State of the host and of a session.
  agents: 'The agents that sessions can run on.',
  terminals: 'All terminals.',
  models: 'The models that it can use.',
  turns: 'Finished turns, oldest first.',
  steeringMessage: 'The message that steers the running turn.',
  queuedMessages: 'Messages for later turns, in their order.',
  customizations: 'Plugins and folders.',
  creationError: 'Why the session could not be opened.',

  // Terminals.
  commandId: 'The command that this is about.',
  commandLine: 'The command, as it was typed.',
  timestamp: 'When it started: milliseconds since 1970.',

  // Customizations.
  load: 'Whether it is read and in use.',
  range: 'The part that is meant; the whole, if absent.',

  // Programs and models.
  version: 'Its version.',
  maxOutputTokens: 'How many tokens an answer has at most.',
  maxPromptTokens: 'How many tokens a prompt has at most.',
  clientSecret: 'The secret of that client; absent when it has none.',
  total: 'How much there is to do; absent while that is not known.',

  // Chats and folders.
  chat: 'The URI of the chat.',
  chats: 'The URIs of the chats, in their order.',
  defaultChat: 'The chat that a client shows first.',
  activity: 'What is being done now, for people.',
  movable: 'Whether the chat can be moved to another session.',
  workingDirectories: 'The folders to work in; the first one is the primary one.',
  directory: 'The URI of the folder.',
  replacement: 'The folder that takes its place.',
  isRead: 'Whether a person has read it.',
  isArchived: 'Whether it is archived.',
  previousSession: 'The session that the chat was in.',
  previousChat: 'The URI that the chat had.',
  intention: 'What the call is for, in the words of the model.',
  customizationId: 'The customization that brought the tool.',
  kind: 'Which kind it is.',
  command: 'The command that runs.',
  terminal: 'The terminal that it runs in.',
  operationId: 'The operation that this is about.',

  // Annotations.
  annotationCount: 'How many annotations there are.',
  entryCount: 'How many entries they have together.',
  annotationId: 'The annotation that this is about.',
  entryId: 'The entry that this is about.',
  resolved: 'Whether it is dealt with.',

  // Automations.
  automation: 'The URI of the automation.',
  run: 'The URI of the run.',
  runs: 'The newest runs, newest first.',
  runsNextCursor: 'Where older runs begin; absent when all are listed.',
  cursor: 'Where to go on; absent for the next ones.',
  config: 'Values by property name.',
  sessionConfig: 'The configuration that the session would have.',
  type: 'Which type it is.',
  status: 'How it stands.',
  sessions: 'The sessions that it works in.',
  primarySession: 'The session to show first.',
  triggerId: 'The trigger that started it.',
  minIntervalMinutes: 'How far apart two times of a schedule are at least.',

  // Canvases.
  instanceId: 'The id of this canvas.',
  extensionId: 'The extension that draws it.',
  extensionName: 'The name of that extension, for people.',
  canvasId: 'Which canvas of the extension it is.',

  // The provider interface.
  event: 'What happened.',
  prompt: 'The prompt for the agent, or the question for the person.',
  parameters: 'A JSON Schema; the empty object means: no arguments.',
  callId: 'The request that this answers.',
  gateId: 'The gate, by the id in its rule.',
  queryId: 'The query that this answers.',
};
