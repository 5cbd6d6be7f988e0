// What the grammars' WebAssembly module exports to package symbols, which holds the other side (grammar.go).
//
// The host writes a text to text(), calls run, and reads rows from rows(). An instance serves one call at a time and keeps
// nothing of a file after it.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <tree_sitter/api.h>

#define EXPORT(name) __attribute__((export_name(#name)))

enum { text_cap = 1 << 20, rows_cap = 1 << 16, matches_cap = 256 };
enum { bad_language = -1, out_of_time = -2 }; // of run; bad_language of compile, too

// The host tells when a file has had its time. It is asked every so often.
__attribute__((import_module("host"), import_name("late"))) int32_t host_late(void);

const TSLanguage *tree_sitter_cpp(void);
const TSLanguage *tree_sitter_java(void);
const TSLanguage *tree_sitter_javascript(void);
const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_rust(void);
const TSLanguage *tree_sitter_tsx(void);
const TSLanguage *tree_sitter_typescript(void);

// The numbers of the languages are known to the host.
static const TSLanguage *(*const languages[])(void) = {
	tree_sitter_cpp, tree_sitter_java, tree_sitter_javascript, tree_sitter_python,
	tree_sitter_rust, tree_sitter_tsx, tree_sitter_typescript,
};
enum { language_count = sizeof languages / sizeof *languages };

// A row is one match of a query: places are offsets in bytes, line counts from 0.
struct row {
	uint32_t pattern;              // its number in the query
	uint32_t start, end;           // of the node captured as @d; where there is none, of the name
	uint32_t body;                 // where the node's field "body" begins; its end, where it has none
	uint32_t name_start, name_end; // of the node captured as @n
	uint32_t line;                 // of the name
};

static char text_buffer[text_cap];
static struct row row_buffer[rows_cap];
static TSQuery *queries[language_count];
static TSParser *parser;
static TSQueryCursor *cursor;

static bool parse_late(TSParseState *state) {
	(void)state;
	return host_late();
}

static bool query_late(TSQueryCursorState *state) {
	*(bool *)state->payload = host_late();
	return *(bool *)state->payload;
}

static const char *read_text(void *len, uint32_t at, TSPoint point, uint32_t *n) {
	(void)point;
	*n = at < *(uint32_t *)len ? *(uint32_t *)len - at : 0;
	return text_buffer + at;
}

EXPORT(text) char *text(void) { return text_buffer; }

EXPORT(rows) struct row *rows(void) { return row_buffer; }

// compile makes the text the query of a language. It returns 0, or one more than the offset of the query's mistake.
EXPORT(compile) int32_t compile(uint32_t language, uint32_t len) {
	if (language >= language_count || len > text_cap) return bad_language;
	uint32_t offset = 0;
	TSQueryError error;
	TSQuery *query = ts_query_new(languages[language](), text_buffer, len, &offset, &error);
	if (!query) return (int32_t)offset + 1;
	if (queries[language]) ts_query_delete(queries[language]);
	queries[language] = query;
	return 0;
}

static TSNode field(TSNode node, const char *name) {
	return ts_node_is_null(node) ? node : ts_node_child_by_field_name(node, name, (uint32_t)strlen(name));
}

// body_of returns the body of a definition, or of the function that a name is given.
static TSNode body_of(TSNode node) {
	TSNode body = field(node, "body");
	if (ts_node_is_null(body)) body = field(field(node, "value"), "body");
	if (ts_node_is_null(body)) body = field(field(node, "right"), "body");
	return body;
}

static void add_row(struct row *row, const TSQueryMatch *match, const TSQuery *query) {
	TSNode node = {0}, name = {0};
	for (uint16_t i = 0; i < match->capture_count; i++) {
		uint32_t n;
		const char *capture = ts_query_capture_name_for_id(query, match->captures[i].index, &n);
		if (*capture == 'd') node = match->captures[i].node;
		if (*capture == 'n') name = match->captures[i].node;
	}
	TSNode body = body_of(node);
	if (ts_node_is_null(node)) node = name;
	*row = (struct row){
		.pattern = match->pattern_index,
		.start = ts_node_start_byte(node),
		.end = ts_node_end_byte(node),
		.body = ts_node_is_null(body) ? ts_node_end_byte(node) : ts_node_start_byte(body),
		.name_start = ts_node_start_byte(name),
		.name_end = ts_node_end_byte(name),
		.line = ts_node_start_point(name).row,
	};
}

// run parses the text and runs the language's query on it until the host says that it is late. It returns the number of rows;
// when that is all there is room for, some were left out.
EXPORT(run) int32_t run(uint32_t language, uint32_t len) {
	if (language >= language_count || !queries[language] || len > text_cap) return bad_language;
	if (!parser) parser = ts_parser_new();
	if (!cursor) {
		cursor = ts_query_cursor_new();
		ts_query_cursor_set_match_limit(cursor, matches_cap);
	}
	ts_parser_set_language(parser, languages[language]());
	TSInput input = {.payload = &len, .read = read_text, .encoding = TSInputEncodingUTF8};
	TSTree *tree = ts_parser_parse_with_options(parser, NULL, input, (TSParseOptions){.progress_callback = parse_late});
	if (!tree) {
		ts_parser_reset(parser);
		return out_of_time;
	}
	bool late = false;
	TSQueryCursorOptions options = {.payload = &late, .progress_callback = query_late};
	ts_query_cursor_exec_with_options(cursor, queries[language], ts_tree_root_node(tree), &options);
	int32_t count = 0;
	for (TSQueryMatch match; count < rows_cap && ts_query_cursor_next_match(cursor, &match);)
		add_row(&row_buffer[count++], &match, queries[language]);
	ts_tree_delete(tree);
	return late ? out_of_time : count;
}
