import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme";
import { h } from "vue";

/** The page for an unknown address. That of the default theme has no main region for screen readers. */
const notFound = () =>
  h("main", { class: "vp-doc", style: "padding: 96px 24px; text-align: center" }, [
    h("h1", "There is no such page"),
    h("p", ["It may have another address now: ", h("a", { href: "/pages" }, "all pages"), "."]),
  ]);

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { "not-found": notFound }),
};

export default theme;
