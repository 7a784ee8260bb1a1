import { describe, expect, it } from 'vitest';

import { partsOfAnswer } from '../../react/src/chat/answer-events.js';
import { Agent, artifact, own, task, update, whole, words } from './read-agent.js';

/** The steps as an agent sends them: messages of a working task, each with an id of its own. */
const sent = (steps: readonly string[]) => steps.map((text, index) => update('WORKING', text, `step ${index}`));
const read = async (stream: readonly unknown[]): Promise<string[]> => {
  const agent = new Agent({ SendStreamingMessage: { stream } });
  await agent.ask();
  return agent.shown;
};

describe('the steps of an agent at work', () => {
  it.each([
    [['🔍 Searching…', '📊 Comparing…']],
    [['Searching…', 'Reading…', 'Comparing…', 'Sorting…', 'Writing…', 'Checking…']],
    [['1/2 Searching', '2/2 Comparing']],
    [['25 % done', '50 % done', '75 % done']],
    [['searching flights', 'comparing prices']],
    [['جارٍ البحث', 'جارٍ المقارنة']],
    [['正在搜索航班', '正在比较价格']],
    [['Searching…\n', 'Comparing…\n']],
    [['Searching…', '', 'Comparing…']],
  ])('are not part of the answer that follows: %j', async (steps) => {
    const shown = steps.filter((text) => text !== '').map((text) => `status: ${text.trimEnd()}`);
    const answered = await read([task('WORKING'), ...sent(steps), artifact('It costs €120.'), update('COMPLETED')]);
    expect(answered.map((text) => text.trimEnd())).toEqual([...shown, 'It costs €120.']);
    const last = await read([task('WORKING'), ...sent(steps), update('COMPLETED', 'It costs €120.', 'last')]);
    expect(last.at(-1)).toBe('It costs €120.');
    expect(last.slice(0, -1).every((text) => text.startsWith('status: '))).toBe(true);
    const later = await read([
      task('COMPLETED', { history: [own, ...steps.map((text) => words(text))], ...whole('It costs €120.') }),
    ]);
    expect(later.filter((text) => !text.startsWith('status: '))).toEqual(['It costs €120.']);
  });

  it.each([
    [['🔍 Searching…', '📊 Comparing…']],
    [['25 % done', '50 % done']],
    [['جارٍ البحث…', 'جارٍ المقارنة…']],
    [['正在搜索航班…', '正在比较价格…']],
  ])('are shown one at a time before there is an answer: %j', async (steps) => {
    const agent = new Agent({
      SendStreamingMessage: { stream: [task('WORKING'), ...sent(steps), task('INPUT_REQUIRED')] },
    });
    await agent.ask();
    expect(agent.shown).toEqual([...steps.slice(0, -1).map((text) => `status: ${text}`), steps.at(-1)]);
  });
});

describe('an answer in pieces', () => {
  it.each([
    [['It', ' is', ' 42', '.']],
    [['It ', 'is ', '42.']],
    [['Mün', 'chen']],
    [['你好', '！', '我', '很好', '。']],
    [['First line\n', 'second line']],
  ])('is one text when nothing else is sent: %j', async (pieces) => {
    expect(await read([task('WORKING'), ...sent(pieces), update('COMPLETED')])).toEqual([pieces.join('')]);
    expect(await read([task('COMPLETED', whole(...pieces))])).toEqual([pieces.join('')]);
    expect(await read([{ message: { role: 'ROLE_AGENT', parts: pieces.map((text) => ({ text })) } }])).toEqual([
      pieces.join(''),
    ]);
  });

  it('stays when a file or a document follows', async () => {
    const stream = [
      task('WORKING'),
      ...sent(['Here is', ' your', ' draft:']),
      artifact('Dear Ada,'),
      update('COMPLETED'),
    ];
    expect(await read(stream)).toEqual(['Here is your draft:', 'Dear Ada,']);
  });
});

describe('parts that an agent has separated', () => {
  it.each([
    [['Here is the plan:', '1. Pack.\n2. Go.']],
    [['Found 3 flights.', '€120 is the cheapest.']],
    [['مرحبا.', 'كيف الحال؟']],
    [['Done.', '✅ Booked.']],
    [['See:', 'https://x.example/a']],
    [['First paragraph.', 'second paragraph.']],
    [['Table:', '(see below)']],
    [['One.', 'Two.', 'Three.', 'Four.', 'Five.', 'Six.']],
    [['你好。', '再见。']],
  ])('stay separate: %j', async (parts) => {
    expect(await read([task('COMPLETED', whole(...parts))])).toEqual(parts);
    expect(await read([{ message: { role: 'ROLE_AGENT', parts: parts.map((text) => ({ text })) } }])).toEqual(parts);
  });
});

describe('parts of one id', () => {
  const message = (text: string) => ({ message: words(text, 'same') });

  it.each([
    ['an artifact and the last message', [artifact('One.', false, 'same'), update('COMPLETED', 'Two.', 'same')], 2],
    ['an artifact and a step', [update('WORKING', 'Zero.', 'same'), artifact('One.', false, 'same')], 2],
    ['a step that is repeated as the answer', [update('WORKING', 'One.', 'same'), message('One.')], 1],
    ['a step and another message', [task('WORKING'), update('WORKING', 'One.', 'same'), message('Two.')], 1],
  ])('have ids of their own on the page: %s', async (_what, stream, count) => {
    const agent = new Agent({ SendStreamingMessage: { stream: [...stream, update('COMPLETED')] } });
    const parts = partsOfAnswer(await agent.ask());
    expect(parts).toHaveLength(count);
    expect(new Set(parts.map(({ id }) => id)).size).toBe(count);
  });
});
