import { setImmediate } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import MarkdownIt, { type Token } from 'markdown-it';
import { MENTION } from '../../work/comments/rules.js';

/** Raw HTML is shown as text. Images of other hosts are links: loading one would tell another server who reads the page. */
const parser = new MarkdownIt('default', { html: false, linkify: true, breaks: true });

/** Addresses that a link may have: the library refuses a few schemes only, but others open programs of the user who clicks. */
const ADDRESS = /^(?:https?:|mailto:|[/#.?]|[^:]*$)/i;
parser.validateLink = (url) => ADDRESS.test(url.trim());

// Addresses without a scheme: looking for them costs the square of a text that consists of them.
parser.linkify.add('//', null);

/** Where a page shows a file of ours as a picture. */
const OWN_PICTURE = /^\/app\/files\/([0-9a-f-]{36})\/picture$/;

parser.renderer.rules.image = (tokens, index, options, env, renderer) => {
  const token = tokens[index];
  const { escapeHtml } = parser.utils;
  const [own, fileId] = OWN_PICTURE.exec(String(token?.attrGet('src') ?? '')) ?? [];
  if (own) {
    const alt = escapeHtml(renderer.renderInlineAsText(token?.children ?? [], options, env));
    return `<a href="/app/items/${fileId}"><img src="${own}" alt="${alt}" loading="lazy" decoding="async"></a>`;
  }
  const source = escapeHtml(String(token?.attrGet('src') ?? ''));
  return `<a href="${source}" rel="noopener noreferrer nofollow">${escapeHtml(token?.content || 'image')}</a>`;
};
parser.renderer.rules.link_open = (tokens, index, options, _env, renderer) => {
  tokens[index]?.attrSet('rel', 'noopener noreferrer nofollow');
  return renderer.renderToken(tokens, index, options);
};
// Headings of a text stand below those of its page.
for (const rule of ['heading_open', 'heading_close'] as const) {
  parser.renderer.rules[rule] = (tokens, index, options, _env, renderer) => {
    const token = tokens[index];
    if (token) token.tag = `h${Math.min(6, Number(token.tag.slice(1)) + 2)}`;
    return renderer.renderToken(tokens, index, options);
  };
}

// The alignment of a cell is a style attribute, which the pages' policy forbids.
for (const rule of ['td_open', 'th_open'] as const) {
  parser.renderer.rules[rule] = (tokens, index, options, _env, renderer) => {
    const token = tokens[index];
    if (token) token.attrs = null;
    return renderer.renderToken(tokens, index, options);
  };
}

/** What a rendering knows beside the text. */
interface Known {
  /** User names that a mention can mean, in lower case. */
  names?: ReadonlySet<string>;
  /** Keys of the reader's teams, with which names of tasks begin: HAR-12. */
  teamKeys?: ReadonlySet<string>;
  /** Id of the form that ticks a box of the text; without one its boxes are only shown. */
  tickForm?: string | undefined;
}

/** A box of a list: `- [ ] Order the wheels`. */
interface Box {
  /** Its place among the boxes of the text, from 0. */
  at: number;
  /** Line of the text, from 0. */
  line: number;
  isTicked: boolean;
  /** What stands behind it. */
  words: string;
  /** The same in short, so that a box is known when lines move. Where several boxes say it, of the whole text too: then none is known once it changes. */
  mark: string;
}
const BOX = /^\[([ xX])\] (?=\S)/;

/** Reads the box that a block begins with: the first line of an entry of a list. */
function readBox(tokens: readonly Token[], index: number, at: number): Omit<Box, 'mark'> | undefined {
  const [block, before, entry] = [tokens[index], tokens[index - 1], tokens[index - 2]];
  const found = block?.type === 'inline' && before?.type === 'paragraph_open' && entry?.type === 'list_item_open';
  const [, state] = (found && BOX.exec(block.content)) || [];
  if (state === undefined || !block?.map || !['text', 'box'].includes(block.children?.[0]?.type ?? '')) return undefined;
  return { at, line: block.map[0], isTicked: state !== ' ', words: block.content.slice(4) };
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** Returns the boxes of a text with the places of their blocks. */
function readBoxes(tokens: readonly Token[], text: string): { box: Box; index: number }[] {
  const found: { box: Omit<Box, 'mark'>; index: number }[] = [];
  const counts = new Map<string, number>();
  for (const index of tokens.keys()) {
    const box = readBox(tokens, index, found.length);
    if (!box) continue;
    found.push({ box, index });
    counts.set(box.words, (counts.get(box.words) ?? 0) + 1);
  }
  const whole = shortHash(text);
  return found.map(({ box, index }) => {
    const isAlone = counts.get(box.words) === 1;
    return { box: { ...box, mark: shortHash(isAlone ? box.words : `${box.words}\n${box.at} ${whole}`) }, index };
  });
}

/** How a form names a box as it was shown: `2:0:9f86d081884c`. */
const boxName = ({ at, isTicked, mark }: Box): string => `${at}:${isTicked ? 1 : 0}:${mark}`;

/**
 * Ticks a box as it was shown, or takes its tick away. The line is found by what it says; where several say the same, only as long as nothing else
 * has changed.
 * @returns the new text; the same one if the box is as wanted already; undefined if it is not certain which box is meant
 */
export function tickBox(text: string, name: string): string | undefined {
  const [, was, mark] = name.split(':');
  // As the parser reads it: with one kind of line end.
  const source = text.replaceAll(/\r\n?/g, '\n').replaceAll('\0', '\uFFFD');
  const found = readBoxes(parser.parse(text, {}), source).find(({ box }) => box.mark === mark);
  if (!found) return undefined;
  if (found.box.isTicked !== (was === '1')) return text;
  // Every second part is the end of a line, so that all of them stay as they are.
  const parts = text.split(/(\r\n?|\n)/);
  const line = 2 * found.box.line;
  return parts.with(line, (parts[line] ?? '').replace(/\[[ xX]\]/, was === '1' ? '[ ]' : '[x]')).join('');
}

parser.core.ruler.push('checklist', (state) => {
  for (const { box, index } of readBoxes(state.tokens, state.src)) {
    const [entry, block] = [state.tokens[index - 2] as Token, state.tokens[index] as Token];
    const [first, ...others] = block.children ?? [];
    entry.attrJoin('class', 'box');
    const shown = Object.assign(new state.Token('box', '', 0), { meta: box, content: block.content.slice(4) });
    block.children = [shown, Object.assign(first as Token, { content: (first as Token).content.slice(4) }), ...others];
  }
});
parser.renderer.rules['box'] = (tokens, index, _options, env) => {
  const { tickForm } = (env ?? {}) as Known;
  const { meta, content = '' } = tokens[index] ?? {};
  const box = meta as unknown as Box;
  if (tickForm === undefined) return `<input type="checkbox" disabled${box.isTicked ? ' checked' : ''}> `;
  const label = parser.utils.escapeHtml(content.slice(0, 100));
  return `<button type="submit" form="${tickForm}" name="box" value="${boxName(box)}" role="checkbox" aria-checked="${box.isTicked}" aria-label="${label}" class="tick"></button> `;
};

/** Marks words that the rendering knows, but not in links and code. */
function markWords(type: string, pattern: RegExp, isKnown: (word: string, known: Known) => boolean): void {
  parser.core.ruler.push(type, (state) => {
    const text = (content: string) => Object.assign(new state.Token('text', '', 0), { content });
    for (const block of state.tokens) {
      let inLink = 0;
      block.children = (block.children ?? []).flatMap((token) => {
        if (token.type === 'link_open') inLink += 1;
        if (token.type === 'link_close') inLink -= 1;
        if (token.type !== 'text' || inLink > 0) return [token];
        const found = [...token.content.matchAll(pattern)].filter(([, word = '']) => isKnown(word, state.env as Known));
        let end = 0;
        const parts = found.flatMap((match) => {
          const before = text(token.content.slice(end, match.index));
          end = match.index + match[0].length;
          return [before, Object.assign(new state.Token(type, '', 0), { content: match[0] })];
        });
        return [...parts, text(token.content.slice(end))];
      });
    }
  });
}

// Mentions of the members that the caller named stand out.
markWords('mention', MENTION, (name, { names }) => names?.has(name.toLowerCase()) ?? false);
parser.renderer.rules['mention'] = (tokens, index) =>
  `<bdi class="mention">${parser.utils.escapeHtml(tokens[index]?.content ?? '')}</bdi>`;

// The name of a task leads to it. Whether there is such a task for the reader is seen when it is followed.
markWords(
  'task_name',
  /(?<![\p{L}\p{N}_-])([A-Z][A-Z0-9]{0,5})-[1-9]\d{0,8}(?![\p{L}\p{N}_-])/gu,
  (key, { teamKeys }) => teamKeys?.has(key) ?? false,
);
parser.renderer.rules['task_name'] = (tokens, index) => {
  const name = parser.utils.escapeHtml(tokens[index]?.content ?? '');
  return `<a href="/app/tasks/${name}">${name}</a>`;
};

/** Longer texts are shown as they are: some inputs cost the parser the square of their length, and every other request waits meanwhile. */
const MAX_RENDERED = 20_000;
/** The same for all texts of one page. */
const MAX_RENDERED_OF_PAGE = 60_000;

/** Cells of tables in one text. Short rows are filled up, so that two characters may become hundreds of cells. */
const MAX_CELLS = 10_000;

/** Returns the cells that a text has if its longest row is the head of one table with all its lines. */
function splitCells(text: string): number {
  const lines = text.split('\n');
  const columns = lines.reduce((most, line) => Math.max(most, line.split('|').length), 0);
  return columns < 3 ? 0 : columns * lines.length;
}

/** Returns a text written in Markdown as safe HTML; undefined if it is too long to render, or its tables are too large. */
export const renderMarkdown = (text: string, known: Known = {}): string | undefined =>
  text.length <= MAX_RENDERED && splitCells(text) <= MAX_CELLS ? parser.render(text, { ...known }) : undefined;

/** A text of a page, and the form that ticks its boxes. */
interface WrittenText {
  text: string;
  tickForm?: string | undefined;
}

/** Renders the texts of one page in order, as far as they are not too long together. Other requests are answered between two texts. */
export async function renderTexts(
  texts: readonly WrittenText[],
  known: Omit<Known, 'tickForm'> = {},
): Promise<(string | undefined)[]> {
  const rendered: (string | undefined)[] = [];
  let left = MAX_RENDERED_OF_PAGE;
  for (const { text, tickForm } of texts) {
    left -= text.length;
    rendered.push(left < 0 ? undefined : renderMarkdown(text, { ...known, tickForm }));
    await setImmediate();
  }
  return rendered;
}
