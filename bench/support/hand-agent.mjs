/** An agent that hands its turns out and waits: a benchmark is the agent. */
export function handAgent() {
  let hand;
  let turn = new Promise((resolve) => {
    hand = resolve;
  });
  const runTurn = (given) =>
    new Promise((resolve, reject) => {
      given.signal.addEventListener('abort', () => reject(given.signal.reason));
      hand({ turn: given, end: resolve });
    });
  const agent = {
    info: { provider: 'bench', displayName: 'Bench', description: '', models: [] },
    abilities: { tools: 'live', toolIntent: 'all', render: 'none', steer: false, cancelTool: true },
    sections: {},
    open: async () => ({ runTurn, close: async () => {} }),
  };
  /** The next turn that starts, and `end` to end it. */
  async function nextTurn() {
    const started = await turn;
    turn = new Promise((resolve) => {
      hand = resolve;
    });
    return started;
  }
  return { agent, nextTurn };
}
