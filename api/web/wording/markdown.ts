import MarkdownIt from 'markdown-it';

/**
 * Raw HTML is shown as text, and links go to http, https and mailto only (the library's rule). Images are links: loading one would tell
 * another server who reads the page.
 */
const parser = new MarkdownIt('default', { html: false, linkify: true, breaks: true });

parser.renderer.rules.image = (tokens, index) => {
  const token = tokens[index];
  const { escapeHtml } = parser.utils;
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

/** Longer texts are shown as they are: the parser needs more than a linear time for some inputs. */
const MAX_RENDERED = 20_000;

/** Returns a text written in Markdown as safe HTML; undefined if it is too long to render. */
export const renderMarkdown = (text: string): string | undefined =>
  text.length <= MAX_RENDERED ? parser.render(text) : undefined;
