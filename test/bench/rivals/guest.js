// test/fixtures/components/js/measured.js for the engines that have no imports of ours: `request` is what their host lends them.
function compute(rounds) {
  let value = 0;
  for (let left = rounds; left > 0; left--) value = (Math.imul(value, 1664525) + 1013904223) | 0;
  return value;
}

// biome-ignore lint/correctness/noUnusedVariables: whoever runs this source calls it
async function execute(params) {
  const { text, url, cpu } = JSON.parse(params);
  if (url !== undefined) return request(url);
  return JSON.stringify({ text, value: cpu && compute(cpu) });
}
