import { readFileSync } from 'node:fs';
import { replaceSection, SECTIONS } from '../../scripts/client/sections.js';

it.each(SECTIONS)('$page lists its $name as they are declared; if not: npm run client', (section) => {
  const text = readFileSync(section.page, 'utf8');
  expect(text).toBe(replaceSection(text, section));
});

it('a page without the comments around a section is refused', () => {
  const [section] = SECTIONS;
  if (section) expect(() => replaceSection('', section)).toThrow('needs <!-- events: made by npm run client -->');
});
