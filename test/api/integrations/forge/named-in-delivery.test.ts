import { namesIn } from '../../../../api/integrations/forge/links/named-in-delivery.js';

// Which tasks a pull request names. Its texts are untrusted.

const said = (title: string, branch = '', body = '') => namesIn(title, branch, body).map(({ key, number }) => `${key}-${number}`);

it.each([
  ['HAR-12: paint the quay', '', '', ['HAR-12']],
  ['Paint the quay (har-12, HAR-13 and Har-12)', '', '', ['HAR-12', 'HAR-13']],
  ['Paint', 'har-12-paint-the-quay', '', ['HAR-12']],
  ['Paint', 'ada/fix-har-12_b', '', []],
  ['Paint', 'ada/fix-har-12', 'Closes HAR-3', ['HAR-12', 'HAR-3']],
  ['Paint', '', 'Blocked by HAR-12. Resolved: HAR-4\nfixes HAR-5, HAR-6', ['HAR-4', 'HAR-5']],
  ['Paint', '', 'prefixes HAR-5 and fix\nHAR-6 and fixes HAR-7x', []],
  ['ÄHAR-12 HAR-12é HAR-0 HARBOUR-1 HAR-99999999999 HAR-2147483648', '', '', []],
])('%j %j %j names %j', (title, branch, body, names) => {
  expect(said(title, branch, body)).toEqual(names);
});

it('many names are cut, and long texts take linear time', () => {
  expect(said(Array.from({ length: 300 }, (_, at) => `HAR-${at + 1}`).join(' '))).toHaveLength(100);
  for (const part of ['fixes ', 'fixes: ', 'a-', 'har-1', 'fixes har-'])
    expect(said('', '', part.repeat(60_000 / part.length))).toEqual([]);
  expect(said('', '', `fixes${' '.repeat(60_000)}HAR-1`)).toEqual([]);
});
