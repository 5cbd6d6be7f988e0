namespace db {
class API_EXPORT Table : public Base {
 public:
  explicit Table(const Options& options);
  ~Table();
  int Get(const Key& key, std::string* value) const;
  bool empty() const { return n_ == 0; }
  Table& operator=(const Table&) = delete;
 private:
  int n_;
};
template <typename T>
struct Pair { T a, b; };
int Table::Get(const Key& key, std::string* value) const {
  return Find(key);
}
Table::~Table() {}
template <typename T> T largest(T a, T b) { return a > b ? a : b; }
using Name = std::string;
enum class Colour : int { kRed };
}  // namespace db
