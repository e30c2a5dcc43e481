// Draws one diagram, in a frame without an origin. `mermaid` is the library that stands before this in the same script.
(() => {
  // The colours of the page's card in each theme, in the order of `variables`: the frame sees nothing of the page's own styles.
  const colours = {
    light: ["#f4f2ec", "#8c887f", "#1d2021", "#5b6065", "#ffffff"],
    dark: ["#2a2e32", "#737a81", "#ebe9e4", "#a6abb1", "#1f2225"],
  };
  const variables = ([node, border, text, line, paper]) => ({
    primaryColor: node,
    primaryBorderColor: border,
    primaryTextColor: text,
    lineColor: line,
    background: paper,
    edgeLabelBackground: paper,
    fontSize: "14px",
  });
  const show = async ({ source, isDark }) => {
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: "strict",
      // What a source may not change about this.
      secure: ["secure", "securityLevel", "startOnLoad", "maxTextSize", "maxEdges", "themeCSS", "fontFamily"],
      theme: "base",
      darkMode: isDark,
      themeVariables: { darkMode: isDark, ...variables(isDark ? colours.dark : colours.light) },
      fontFamily: "system-ui, sans-serif",
      maxTextSize: 20_000,
      maxEdges: 300,
      suppressErrorRendering: true,
    });
    const { svg } = await mermaid.render("diagram", source);
    document.body.innerHTML = svg;
    const drawn = document.querySelector("svg");
    drawn.removeAttribute("height");
    drawn.style.maxWidth = "100%";
    drawn.style.width = "100%";
    drawn.style.height = "100%";
  };
  addEventListener("message", ({ source: from, data }) => {
    if (from !== parent) return;
    show(data).then(
      () => parent.postMessage("drawn", "*"),
      () => parent.postMessage("failed", "*"),
    );
  });
  parent.postMessage("ready", "*");
})();
